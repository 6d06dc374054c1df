package colonnade.spark.quirks.writes;

import colonnade.planner.messages.Clauses.UserColumns;
import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.quirks.statement.RunningStatement;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that records which columns the user gives the rows of an append, before Spark fills the
 * other columns. It applies where the rows merge with those of their table by its primary key: a
 * row of the table keeps its values in the other columns. Columns that are matched by position are
 * always all columns.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code InsertIntoStatement}, which names its table when the rule
 * runs, stands below {@code WithCTE} after {@code WITH}, and has the list of columns as {@code
 * userSpecifiedCols}. {@code AppendData} has the columns of a DataFrame.
 */
public final class AppendColumns extends Rule<LogicalPlan> {
  /** Says that Spark matched the columns by name, and that it is unknown which the user gave. */
  private static final UserColumns UNKNOWN = new UserColumns(null, true, null);

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = plan instanceof WithCTE with ? with.plan() : plan;
    if (statement instanceof InsertIntoStatement insert && appendsByName(insert)) {
      LogicalPlan query = EvolvingInserts.query(plan, insert);
      return record(insert, query)
          .map(after -> insert.makeCopy(EvolvingInserts.withTable(insert, after)))
          .<LogicalPlan>map(
              changed ->
                  plan instanceof WithCTE with ? new WithCTE(changed, with.cteDefs()) : changed)
          .orElse(plan);
    }
    if (!plan.analyzed() && plan instanceof AppendData append && append.isByName()) {
      return record(append).<LogicalPlan>map(append::withNewTable).orElse(plan);
    }
    return plan;
  }

  /**
   * Returns what the planner is told of the columns that a user gave the rows of the running write:
   * what this rule has recorded, or nothing if it is all columns.
   */
  public static UserColumns of(TableAtEpoch table) {
    if (table.userColumns() != null) {
      return table.userColumns();
    }
    boolean named =
        RunningStatement.find(AppendData.class).filter(AppendData::isByName).isPresent();
    return named ? UNKNOWN : null;
  }

  /** Whether a statement adds rows whose columns it names. */
  private static boolean appendsByName(InsertIntoStatement insert) {
    boolean named = insert.byName() || insert.userSpecifiedCols().nonEmpty();
    return named && !insert.overwrite() && !replacesRows(insert);
  }

  /** Whether the statement has the clause REPLACE, which this node lacks on Spark 4.1. */
  private static boolean replacesRows(InsertIntoStatement insert) {
    for (int at = 0; at < insert.productArity(); at++) {
      if (insert.productElementName(at).startsWith("replace")
          && insert.productElement(at) instanceof Option<?> clause
          && clause.isDefined()) {
        return true;
      }
    }
    return false;
  }

  private static Optional<DataSourceV2Relation> record(
      InsertIntoStatement insert, LogicalPlan query) {
    Optional<DataSourceV2Relation> target =
        insert.table() instanceof DataSourceV2Relation relation
            ? Optional.of(relation)
            : insert.table() instanceof UnresolvedRelation named
                ? NamedTables.find(named.multipartIdentifier())
                : Optional.empty();
    Map<String, String> options =
        insert.table() instanceof UnresolvedRelation named
            ? NamedTables.options(named)
            : target.map(each -> each.options().asCaseSensitiveMap()).orElse(Map.of());
    return target
        .filter(AppendColumns::mayMerge)
        .flatMap(
            relation ->
                names(insert, query)
                    .flatMap(
                        names ->
                            record(
                                relation,
                                names,
                                options,
                                new CaseInsensitiveStringMap(options))));
  }

  private static Optional<DataSourceV2Relation> record(AppendData append) {
    Optional<DataSourceV2Relation> target =
        EvolvingWrites.target(append.table()).filter(AppendColumns::mayMerge);
    if (target.isEmpty()) {
      return target;
    }
    LogicalPlan query = append.query();
    LogicalPlan rows = query.resolved() ? query : EvolvingWrites.analyzed(query);
    CaseInsensitiveStringMap options = EvolvingWrites.options(append);
    CaseInsensitiveStringMap own =
        append.table() instanceof DataSourceV2Relation ? target.get().options() : options;
    List<String> names = List.of(rows.schema().fieldNames());
    return record(target.get(), names, options.asCaseSensitiveMap(), own);
  }

  private static boolean mayMerge(DataSourceV2Relation relation) {
    return relation.table() instanceof TableAtEpoch table && table.userColumns() == null;
  }

  /** Returns the columns that a statement names; nothing if only Spark can tell them. */
  private static Optional<List<String>> names(InsertIntoStatement insert, LogicalPlan query) {
    List<String> names =
        new ArrayList<>(CollectionConverters.asJava(insert.partitionSpec()).keySet());
    List<String> listed = CollectionConverters.asJava(insert.userSpecifiedCols());
    if (!listed.isEmpty()) {
      names.addAll(listed);
      return Optional.of(names);
    }
    return EvolvingInserts.columns(query, insert)
        .map(
            columns -> {
              names.addAll(List.of(columns.fieldNames()));
              return names;
            });
  }

  /**
   * Returns a table that has these columns recorded; nothing if the rows do not merge.
   *
   * @param options those of the write
   * @param own those of the table in the plan
   */
  private static Optional<DataSourceV2Relation> record(
      DataSourceV2Relation target,
      List<String> names,
      Map<String, String> options,
      CaseInsensitiveStringMap own) {
    TableAtEpoch table = (TableAtEpoch) target.table();
    TableAtEpoch after = table.forUserColumns(names, options);
    if (after == table) {
      return Optional.empty();
    }
    return Optional.of(EvolvingWrites.with(target, after, own));
  }
}
