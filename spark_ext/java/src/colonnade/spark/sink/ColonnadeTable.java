package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.ColumnsForRows;
import colonnade.planner.messages.Queries.Load;
import colonnade.planner.messages.Request;
import colonnade.planner.messages.Views.RowsToWrite;
import colonnade.planner.messages.Writes.AnalyzedRows;
import colonnade.planner.messages.Writes.CanDelete;
import colonnade.planner.messages.Writes.ColumnsOfAppend;
import colonnade.planner.messages.Writes.DeleteWhere;
import colonnade.planner.messages.Writes.MergeByKey;
import colonnade.spark.quirks.changes.HistoryTexts;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.quirks.rules.SparkRules;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.quirks.statement.FrameLayout;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.quirks.statement.StatementTag;
import colonnade.spark.quirks.tables.CharComparisons;
import colonnade.spark.quirks.writes.IdentityChecks;
import colonnade.spark.scan.ColonnadeScanBuilder;
import colonnade.spark.table.ExpressionTree;
import colonnade.spark.table.ReadOptions;
import colonnade.spark.table.StatedLayout;
import colonnade.spark.table.TableAtEpoch;
import colonnade.spark.table.TableForm;
import colonnade.write.RowCheck;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsDeleteV2;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table as queries and statements use it. It is read at one epoch, and a write commits the next
 * epoch.
 */
public class ColonnadeTable extends TableAtEpoch
    implements SupportsRead, SupportsWrite, SupportsRowLevelOperations, SupportsDeleteV2 {
  /** The option of a write that replaces the columns along with the rows. */
  public static final String OVERWRITE_SCHEMA = "overwriteSchema";

  /** The setting of a session whose DELETE reads the rows, so that history can count them. */
  private static final String COUNT_ROWS = "spark.colonnade.countRows";

  /** The setting of the most bytes that the source of a MERGE reads which finds rows by their keys. */
  private static final String MERGE_BY_KEY_SETTING = "spark.colonnade.mergeByKeyBytes";

  private static final boolean CAN_CHOOSE = canChoose();

  ColonnadeTable(TableForm form) {
    super(form);
  }

  /**
   * In the words of the DataFrame that is written, if it states this layout: Spark compares both word
   * by word.
   */
  @Override
  public Transform[] partitioning() {
    Transform[] shown = super.partitioning();
    Optional<Transform[]> asked = shown.length == 0 ? Optional.empty() : FrameLayout.asked();
    return asked.filter(this::isLaidOutAs).orElse(shown);
  }

  /** Whether a layout is that of the table, in whatever words. */
  public boolean isLaidOutAs(Transform... said) {
    return StatedLayout.isMeant(said, super.partitioning(), loaded().sortKey());
  }

  /** Whether Spark asks a table which changes of columns a statement may make. Spark 4.1 does not. */
  public static boolean canChooseChanges() {
    return CAN_CHOOSE;
  }

  private static boolean canChoose() {
    try {
      Class.forName("org.apache.spark.sql.connector.catalog.SupportsSchemaEvolution");
      return true;
    } catch (ClassNotFoundException missing) {
      return false;
    }
  }

  private static ColonnadeTable of(TableForm form) {
    return CAN_CHOOSE ? EvolvingTable.of(form) : new ColonnadeTable(form);
  }

  /**
   * Loads the table at {@code path}. The options {@code epoch} or {@code versionAsOf}, {@code
   * timestampAsOf} (text) or {@code timestampMicros} name the state to read; without them it is the
   * newest epoch.
   */
  public static ColonnadeTable load(String path, Map<String, String> options) {
    return load(path, options, false);
  }

  /**
   * Loads the static values of the table at {@code path}: a table with one row for each partition
   * key, also where no row of the table has that key. The options are those of {@link #load}.
   */
  public static ColonnadeTable loadStatics(String path, Map<String, String> options) {
    return load(path, options, true);
  }

  private static ColonnadeTable load(
      String path, Map<String, String> options, boolean statics) {
    SparkRules.use();
    Load request = new Load(path, options, statics, PlannedQuery.number());
    return of(TableForm.of(Planner.call(request)));
  }

  /** Returns this table for a catalog that does not know the partition transforms as functions. */
  public ColonnadeTable withoutFunctions() {
    return of(form().withoutFunctions());
  }

  /** Returns this table as Spark's own catalog knows it: at its default place, or at a LOCATION. */
  public ColonnadeTable registered(boolean owned) {
    String property = owned ? TableCatalog.PROP_IS_MANAGED_LOCATION : TableCatalog.PROP_EXTERNAL;
    return of(form().with(property, "true"));
  }

  /**
   * Returns this table as the target of a DELETE. It does not equal any table that is read.
   * Otherwise Spark would replace it by its cached rows and could not delete from those.
   */
  public ColonnadeTable toDeleteFrom() {
    return of(form().toDeleteFrom());
  }

  @Override
  public ColonnadeTable forRows(RowsToWrite rows, Map<String, String> options) {
    ColumnsForRows request = new ColumnsForRows(path(), view(), rows, options);
    return of(form().forRows(rows, Planner.call(request).columns()));
  }

  @Override
  public ColonnadeTable forUserColumns(List<String> names, Map<String, String> options) {
    return hasPrimaryKey()
        ? given(new ColumnsOfAppend(path(), view(), names, options))
        : this;
  }

  @Override
  public ColonnadeTable forMerge(
      List<String> keys, List<String> names, long bytes, Map<String, String> options) {
    String most = SQLConf.get().getConfString(MERGE_BY_KEY_SETTING, null);
    return given(
        new MergeByKey(path(), view(), keys, names, bytes, most, options));
  }

  /** Returns this table for rows that merge by their keys, if the planner says that they do. */
  private ColonnadeTable given(Request<AnalyzedRows> request) {
    AnalyzedRows found = Planner.call(request);
    return found.userColumns() == null
        ? this
        : of(form().forUserColumns(found.userColumns(), found.columns()));
  }

  /**
   * Returns this table with all rows that are stored, also those that have expired. Expired values
   * are NULL.
   */
  ColonnadeTable asStored() {
    return of(form().asStored());
  }

  /**
   * Returns this table as a statement sees it that changes rows. The clock of this machine alone
   * does not decide which rows have expired.
   */
  ColonnadeTable decided() {
    return of(form().decided());
  }

  /** Returns some RowSets of this table at an epoch, as a table to read. */
  ColonnadeTable ofRowSets(long epoch, List<Long> rowsets) {
    return new ColonnadeTable(form().ofRowSets(epoch, rowsets, null));
  }

  /**
   * Returns some RowSets of this table at an epoch, as a table whose tasks each read whole RowSets
   * in the order of their rows. A RowSet is read by the task whose number is the remainder of its id
   * divided by the number of tasks.
   */
  ColonnadeTable ofWholeRowSets(long epoch, List<Long> rowsets) {
    long most = 4L * SparkSession.active().sparkContext().defaultParallelism();
    long tasks = Math.min(2L * rowsets.size(), most);
    return new ColonnadeTable(form().ofRowSets(epoch, rowsets, tasks));
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        TableCapability.BATCH_READ,
        TableCapability.BATCH_WRITE,
        TableCapability.TRUNCATE,
        TableCapability.OVERWRITE_BY_FILTER,
        TableCapability.OVERWRITE_DYNAMIC,
        TableCapability.STREAMING_WRITE,
        TableCapability.AUTOMATIC_SCHEMA_EVOLUTION);
  }

  /**
   * The columns, with CHAR and VARCHAR as marked strings for the rule that evolves schemas. Spark
   * replaces these types itself wherever it loads a table, but not in that rule, which would then
   * never come to an end.
   */
  @Override
  public Column[] columns() {
    boolean replaced = CharVarcharUtils.hasCharVarchar(schema()) && Caller.isSchemaEvolution();
    return replaced
        ? columns(CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema()))
        : super.columns();
  }

  /** The constraints; for the rule that has Spark check rows, only those that Spark can check. */
  @Override
  public Constraint[] constraints() {
    Constraint[] all = CharComparisons.padded(super.constraints(), schema());
    boolean divided = all.length > 0 && hasIdentities() && Caller.isConstraintRule();
    return divided ? IdentityChecks.early(all, columns()) : all;
  }

  /** Returns the constraints that only tasks can check, for rows with some columns. */
  List<RowCheck> lateChecks(StructType rows) {
    return hasIdentities() ? IdentityChecks.late(constraints(), columns(), rows) : List.of();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return ColonnadeWriteBuilder.of(this, info);
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return () -> new RowOperation(decided(), info);
  }

  /**
   * Succeeds if the log decides for each whole RowSet whether it is deleted, or if the rows are a
   * range of the order of the table. Then the statement reads no data and runs no task.
   */
  @Override
  public boolean canDeleteWhere(Predicate[] filters) {
    if (!isDeletedFrom()) { // Spark has put the table into the place of a view
      throw ColonnadeException.invalid(
          "DELETE does not change tables through a view; name the table itself: " + path() + ".");
    }
    if (Arrays.stream(filters).anyMatch(ExpressionTree::holdsNullBytes)) {
      return false; // the plan of such a statement shows its filters
    }
    String counts = SQLConf.get().getConfString(COUNT_ROWS, "false");
    return Planner.call(new CanDelete(decided().view(), ExpressionTree.of(filters), counts)).yes();
  }

  @Override
  public void deleteWhere(Predicate[] filters) {
    deleteWhere(filters, Map.of());
  }

  /** Deletes the selected rows with the options of the statement, which Spark 4.1 does not pass. */
  public void deleteWhere(Predicate[] filters, CaseInsensitiveStringMap options) {
    deleteWhere(filters, options.asCaseSensitiveMap());
  }

  private void deleteWhere(Predicate[] filters, Map<String, String> options) {
    String statement = StatementTag.running();
    Planner.call(
        new DeleteWhere(
            path(),
            view(),
            ExpressionTree.of(filters),
            options,
            HistoryTexts.running(),
            statement == null ? UUID.randomUUID().toString().replace("-", "") : statement));
    CachedReads.refresh(path());
  }

  @Override
  public boolean truncateTable() {
    ColonnadeWriteBuilder.truncate(this);
    return true;
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    Map<String, String> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    given.putAll(options.asCaseSensitiveMap());
    given.put("path", path());
    if (given.size() == 1) {
      return new ColonnadeScanBuilder(this);
    }
    // What the table was loaded with came from the very same options.
    boolean here = ReadOptions.areOf(loaded(), given);
    return new ColonnadeScanBuilder(here ? this : at(given));
  }

  /** Returns this table at the state that the options of one use of it name. */
  private ColonnadeTable at(Map<String, String> options) {
    ColonnadeTable other = load(path(), ReadOptions.namingState(options));
    if (!other.schema().equals(schema())) {
      throw ColonnadeException.invalid(
          "The options of a read give table %s other columns than Spark has found; load the table"
              + " by its path, or name an epoch as in VERSION AS OF.",
          path());
    }
    return other;
  }
}
