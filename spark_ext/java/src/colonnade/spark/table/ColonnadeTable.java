package colonnade.spark.table;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.spark.quirks.SessionRules;
import colonnade.spark.scan.ColonnadeScanBuilder;
import colonnade.spark.sink.ColonnadeWriteBuilder;
import colonnade.spark.sink.RowChangeBuilder;
import colonnade.spark.sink.RowOperation;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsDeleteV2;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * One table at one epoch. A query that uses it several times reads that epoch each time.
 *
 * <p>Loaded through a catalog without an epoch or a time, it has a {@link #version}: Spark then
 * loads it anew when it plans a query, once for all uses of the table in it.
 */
public final class ColonnadeTable
    implements SupportsRead,
        SupportsWrite,
        SupportsMetadataColumns,
        SupportsRowLevelOperations,
        SupportsDeleteV2,
        ListsPartitions {
  /** The metadata column that names each row. */
  public static final String ROW_HANDLER = RowColumn.HANDLER;

  /** The option of a write that replaces the columns along with the rows. */
  public static final String OVERWRITE_SCHEMA = "overwriteSchema";

  private static final String COMMENT = "comment";

  private final JsonNode loaded;
  private final boolean callable;
  private final boolean deletedFrom;
  private final Map<String, String> standing;
  private final StructType schema;

  private ColonnadeTable(
      JsonNode loaded, boolean callable, boolean deletedFrom, Map<String, String> standing) {
    this.loaded = loaded;
    this.callable = callable;
    this.deletedFrom = deletedFrom;
    this.standing = standing;
    this.schema = (StructType) DataType.fromJson(loaded.get("schema").asText());
  }

  /**
   * The table at {@code path}. Options: {@code epoch} or {@code versionAsOf}, {@code timestampAsOf}
   * (text) or {@code timestampMicros} name what to read, the newest epoch without one.
   */
  public static ColonnadeTable load(String path, Map<String, String> options) {
    SessionRules.use();
    return new ColonnadeTable(
        Planner.call("load", Map.of("path", path, "options", options)), true, false, Map.of());
  }

  /** The same for a catalog that does not know the partition transforms as functions. */
  public ColonnadeTable withoutFunctions() {
    return new ColonnadeTable(loaded, false, deletedFrom, standing);
  }

  /** The same as Spark's own catalog knows it: made at its own place, or at a LOCATION. */
  public ColonnadeTable registered(boolean owned) {
    String property = owned ? TableCatalog.PROP_IS_MANAGED_LOCATION : TableCatalog.PROP_EXTERNAL;
    return new ColonnadeTable(loaded, callable, deletedFrom, Map.of(property, "true"));
  }

  /**
   * The same as a DELETE's own, which equals none that is read: Spark would put what it has cached
   * of the table in its place, and not know how to delete from that.
   */
  public ColonnadeTable toDeleteFrom() {
    return new ColonnadeTable(loaded, callable, true, standing);
  }

  /** Whether it is a DELETE's own. */
  public boolean isDeletedFrom() {
    return deletedFrom;
  }

  /** Where the table is. */
  public String path() {
    return loaded.get("path").asText();
  }

  /** The epoch that is read. */
  public long epoch() {
    return loaded.get("epoch").asLong();
  }

  /** The reply of the planner's operation {@code load}. */
  public JsonNode loaded() {
    return loaded;
  }

  /** What names this state in every request to the planner. */
  public Map<String, Object> state() {
    return Map.of(
        "url", loaded.get("url").asText(),
        "database", loaded.get("database").asText(),
        "id", loaded.get("id").asText(),
        "epoch", epoch());
  }

  /** What is read, for plans that people look at. */
  public String describe() {
    return "epoch " + epoch();
  }

  @Override
  public String name() {
    return path();
  }

  @Override
  public String id() {
    return loaded.get("database").asText() + "." + loaded.get("id").asText();
  }

  @Override
  public String version() {
    return deletedFrom ? null : loaded.get("epoch").asText(); // else loaded anew, as one to read
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return schema;
  }

  @Override
  public Column[] columns() {
    return Stream.of(schema.fields()).map(ColonnadeTable::column).toArray(Column[]::new);
  }

  private static Column column(StructField field) {
    String metadata =
        new MetadataBuilder().withMetadata(field.metadata()).remove(COMMENT).build().json();
    String comment = field.getComment().isDefined() ? field.getComment().get() : null;
    return Column.create(field.name(), field.dataType(), field.nullable(), comment, metadata);
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return RowColumn.beside(schema).toArray(MetadataColumn[]::new);
  }

  @Override
  public Map<String, String> properties() {
    Map<String, String> properties = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> entry : loaded.get("properties").properties()) {
      properties.put(entry.getKey(), entry.getValue().asText());
    }
    properties.putAll(sortKey().properties());
    properties.putAll(standing);
    properties.put(TableCatalog.PROP_PROVIDER, "colonnade");
    properties.put(TableCatalog.PROP_LOCATION, path());
    if (loaded.hasNonNull(COMMENT)) {
      properties.put(TableCatalog.PROP_COMMENT, loaded.get(COMMENT).asText());
    }
    return properties;
  }

  /** The sort key, where Spark says it: CLUSTER BY and PARTITIONED BY exclude each other. */
  private SortKey sortKey() {
    return SortKey.of(loaded, layout().isEmpty());
  }

  @Override
  public PartitionLayout layout() {
    return PartitionLayout.of(loaded.get("partitioning"), callable);
  }

  @Override
  public Transform[] partitioning() {
    PartitionLayout layout = layout();
    return layout.isEmpty() ? sortKey().partitioning() : layout.transforms();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        TableCapability.BATCH_READ,
        TableCapability.BATCH_WRITE,
        TableCapability.TRUNCATE,
        TableCapability.OVERWRITE_BY_FILTER,
        TableCapability.OVERWRITE_DYNAMIC,
        TableCapability.AUTOMATIC_SCHEMA_EVOLUTION); // to refuse it: else Spark drops the columns
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    return ColonnadeWriteBuilder.of(this, info);
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return () -> new RowOperation(this, info);
  }

  /** Where the log decides for each whole RowSet what goes, nothing is read and no task is run. */
  @Override
  public boolean canDeleteWhere(Predicate[] filters) {
    if (Arrays.stream(filters).anyMatch(ExpressionTree::holdsNullBytes)) {
      return false; // the plan of such a statement shows its filters
    }
    Map<String, Object> args = new HashMap<>(state());
    args.put("filters", ExpressionTree.of(filters));
    return Planner.call("can_delete", args).get("whole").asBoolean();
  }

  @Override
  public void deleteWhere(Predicate[] filters) {
    RowChangeBuilder.delete(this, filters, Map.of());
  }

  /** The same with the options of the statement, which Spark 4.1 does not have. */
  public void deleteWhere(Predicate[] filters, CaseInsensitiveStringMap options) {
    RowChangeBuilder.delete(this, filters, options.asCaseSensitiveMap());
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
    ReadOptions read = ReadOptions.check(given);
    // A table at an asked-for epoch was loaded by the very same options.
    boolean elsewhere = read.namesState() && !loaded.get("pinned").asBoolean();
    return new ColonnadeScanBuilder(elsewhere ? at(given) : this);
  }

  /** This table as the options of one use of it name it. */
  private ColonnadeTable at(Map<String, String> options) {
    ColonnadeTable other = load(path(), ReadOptions.namingState(options));
    if (!other.schema.equals(schema)) {
      String sentence =
          String.format(
              "Table %s had other columns at epoch %d than at epoch %d; name the epoch where the"
                  + " table is loaded, as in VERSION AS OF.",
              path(), other.epoch(), epoch());
      throw ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
    }
    return other;
  }

  /** Whether both are one table at one epoch: Spark keeps the old one of two that are equal. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ColonnadeTable table
        && loaded.equals(table.loaded)
        && deletedFrom == table.deletedFrom;
  }

  @Override
  public int hashCode() {
    return state().hashCode();
  }

  /** What Spark shows in plans and in some errors. */
  @Override
  public String toString() {
    return path();
  }
}
