package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Views.RowsToWrite;
import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.analysis.NamedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that fits the table and the rows of a DataFrame's write to each other before Spark
 * compares their columns. With the option {@code mergeSchema} the write gives the table the columns
 * that it lacks, and wider types, in the epoch of its rows. With {@code ignoreUnknownColumns} the
 * write leaves out columns that the table lacks.
 *
 * <p>Seen on Spark 4.1 and 4.3: the rows of such a write are resolved before the rule runs. The
 * options of the write are in {@code AppendData}, {@code OverwriteByExpression} and {@code
 * OverwritePartitionsDynamic}. {@code DataFrame.writeTo} names its table, and matches columns by
 * name. {@code INSERT … REPLACE WHERE}, which is {@code OverwriteByExpression} on Spark 4.1, matches
 * them by position.
 */
public final class EvolvingWrites extends Rule<LogicalPlan> {
  static final String MERGE_SCHEMA = "mergeSchema";
  static final String IGNORE_UNKNOWN = "ignoreUnknownColumns";

  /** The option of a write that replaces the columns along with the rows. */
  private static final String OVERWRITE_SCHEMA = "overwriteSchema";

  /** The setting of a session that gives all of its writes the option {@code mergeSchema}. */
  static final String MERGE_SETTING = "spark.colonnade.mergeSchema";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan.analyzed() || !(plan instanceof V2WriteCommand given)) {
      return plan;
    }
    CaseInsensitiveStringMap options = options(given);
    boolean ignores = isTrue(options.getOrDefault(IGNORE_UNKNOWN, "false"));
    boolean merges =
        options.containsKey(MERGE_SCHEMA)
            ? isTrue(options.get(MERGE_SCHEMA))
            : !ignores && mergesByDefault();
    boolean replaces = isTrue(options.getOrDefault(OVERWRITE_SCHEMA, "false"));
    if (!merges && !ignores || replaces) {
      return plan;
    }
    Optional<DataSourceV2Relation> target = target(given.table());
    if (target.isEmpty()
        || !(target.get().table() instanceof TableAtEpoch table)
        || table.view().evolving() != null
        || table.userColumns() != null) {
      return plan;
    }
    V2WriteCommand write = given;
    // writeTo leaves both to Spark. No later rule looks for a table that is found here.
    if (!write.query().resolved()) {
      write = write.withNewQuery(analyzed(write.query()));
    }
    if (write.table() instanceof UnresolvedRelation) {
      write = write.withNewTable(with(target.get(), table, options));
    }
    return (LogicalPlan) (merges ? merged(write, options) : withoutUnknown(write, table));
  }

  /** Whether the setting of the session is on. */
  static boolean mergesByDefault() {
    return isTrue(SQLConf.get().getConfString(MERGE_SETTING, "false"));
  }

  /** Returns whether a text says true; the planner refuses what is neither true nor false. */
  private static boolean isTrue(String text) {
    return text.strip().equalsIgnoreCase("true");
  }

  /** Returns the options of a write, wherever it has them. */
  static CaseInsensitiveStringMap options(V2WriteCommand write) {
    scala.collection.immutable.Map<String, String> given =
        write instanceof AppendData append
            ? append.writeOptions()
            : write instanceof OverwriteByExpression overwrite
                ? overwrite.writeOptions()
                : write instanceof OverwritePartitionsDynamic dynamic
                    ? dynamic.writeOptions()
                    : scala.collection.immutable.Map$.MODULE$.<String, String>empty();
    Map<String, String> all = new HashMap<>(CollectionConverters.asJava(given));
    if (write.table() instanceof UnresolvedRelation named) {
      all.putAll(NamedTables.options(named));
    }
    return new CaseInsensitiveStringMap(all);
  }

  /** Returns the table of a write; nothing if the write names a view, or a table that is missing. */
  static Optional<DataSourceV2Relation> target(NamedRelation table) {
    if (table instanceof DataSourceV2Relation relation) {
      return Optional.of(relation);
    }
    if (!(table instanceof UnresolvedRelation named)) {
      return Optional.empty();
    }
    return NamedTables.find(named.multipartIdentifier());
  }

  /** Returns a query as Spark analyzes it. */
  public static LogicalPlan analyzed(LogicalPlan query) {
    return Dataset.ofRows(SparkSession.active(), query).queryExecution().analyzed();
  }

  /** Returns a write to the table as it will be with what it lacks for the rows. */
  private static V2WriteCommand merged(V2WriteCommand write, CaseInsensitiveStringMap options) {
    DataSourceV2Relation target = (DataSourceV2Relation) write.table();
    StructType columns = write.query().schema();
    Map<String, String> given = options.asCaseSensitiveMap();
    return evolved(target, columns, write.isByName(), given, target.options())
        .map(write::withNewTable)
        .orElse(write);
  }

  /**
   * Returns a table as it will be with what it lacks for rows with these columns; nothing if it
   * lacks nothing. The write itself changes the table, in the epoch of its rows.
   *
   * @param options those of the write
   * @param own those of the table in the plan
   */
  static Optional<DataSourceV2Relation> evolved(
      DataSourceV2Relation target,
      StructType columns,
      boolean byName,
      Map<String, String> options,
      CaseInsensitiveStringMap own) {
    TableAtEpoch table = (TableAtEpoch) target.table();
    RowsToWrite rows = new RowsToWrite(columns.asNullable().json(), byName, null, false);
    TableAtEpoch after = table.forRows(rows, options);
    if (after.schema().equals(table.schema())) {
      return Optional.empty();
    }
    return Optional.of(with(target, after, own));
  }

  /** Returns a table of a plan at another state, and with other options. */
  public static DataSourceV2Relation with(
      DataSourceV2Relation relation, TableAtEpoch table, CaseInsensitiveStringMap options) {
    return DataSourceV2Relation.create(
        table, relation.catalog(), relation.identifier(), options, relation.timeTravelSpec());
  }

  private static V2WriteCommand withoutUnknown(V2WriteCommand write, TableAtEpoch table) {
    if (!write.isByName()) {
      throw ColonnadeException.invalid(
          "Option %s needs columns that are matched by name, and insertInto matches them by"
              + " position; use saveAsTable, save or writeTo.",
          IGNORE_UNKNOWN);
    }
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(List.of(table.schema().fieldNames()));
    List<NamedExpression> kept = new ArrayList<>();
    for (Attribute column : CollectionConverters.asJava(write.query().output())) {
      if (known.contains(column.name())) {
        kept.add(column);
      }
    }
    return kept.size() == write.query().output().size()
        ? write
        : write.withNewQuery(
            new Project(seq(kept), write.query()));
  }
}
