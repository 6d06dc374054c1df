package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.spark.table.TableAtEpoch;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that refuses a {@code MERGE WITH SCHEMA EVOLUTION} before its table gets new columns, if
 * the table could not take the rows then. Spark itself finds that out when the table has changed
 * already. The rule lets Spark analyze the statement with the table as it would be.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code MergeIntoTable} names its table when the rule runs. Spark
 * refuses rows without a field of a struct under {@code INCOMPATIBLE_DATA_FOR_TABLE}.
 */
public final class EvolvingMerges extends Rule<LogicalPlan> {
  private static final String INCOMPATIBLE = "INCOMPATIBLE_DATA_FOR_TABLE";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof MergeIntoTable merge && merge.withSchemaEvolution()) {
      List<LogicalPlan> target = CollectionConverters.asJava(merge.targetTable().collectLeaves());
      if (target.size() == 1 && target.get(0) instanceof UnresolvedRelation named) {
        NamedTables.find(named.multipartIdentifier())
            .filter(relation -> relation.table() instanceof TableAtEpoch)
            .ifPresent(relation -> check(merge, named, relation));
      }
    }
    return plan;
  }

  private void check(
      MergeIntoTable merge, UnresolvedRelation named, DataSourceV2Relation relation) {
    TableAtEpoch table = (TableAtEpoch) relation.table();
    Optional<AnalysisException> problem =
        problem(
            () -> {
              Optional<String> columns = evolved(table, merge.sourceTable());
              columns.ifPresent(
                  schema -> {
                    Table after = table.withColumns(schema);
                    analyze(withTarget(merge, named, relationOf(after, relation)));
                  });
            });
    if (problem.isPresent()
        && String.valueOf(problem.get().getCondition()).startsWith(INCOMPATIBLE)) {
      throw refusal(table, problem.get());
    }
  }

  /** Returns the columns of a table after the statement; nothing if they stay, or cannot be told. */
  private static Optional<String> evolved(TableAtEpoch table, LogicalPlan source) {
    String given = EvolvingWrites.analyzed(source).schema().asNullable().json();
    JsonNode reply =
        Planner.call("columns_after_merge", Map.of("path", table.path(), "columns", given));
    return Optional.ofNullable(reply.get("schema").textValue());
  }

  private static DataSourceV2Relation relationOf(Table table, DataSourceV2Relation relation) {
    return DataSourceV2Relation.create(
        table,
        relation.catalog(),
        relation.identifier(),
        relation.options(),
        relation.timeTravelSpec());
  }

  private static LogicalPlan withTarget(
      MergeIntoTable merge, UnresolvedRelation named, DataSourceV2Relation relation) {
    LogicalPlan aliased =
        merge.targetTable() instanceof SubqueryAlias alias
            ? new SubqueryAlias(alias.identifier(), relation)
            : SubqueryAlias$.MODULE$.apply(named.multipartIdentifier(), relation);
    return merge.copy(
        aliased,
        merge.sourceTable(),
        merge.mergeCondition(),
        merge.matchedActions(),
        merge.notMatchedActions(),
        merge.notMatchedBySourceActions(),
        true);
  }

  private static void analyze(LogicalPlan statement) {
    SparkSession.active()
        .sessionState()
        .analyzer()
        .executeAndCheck(statement, new QueryPlanningTracker(Option.empty()));
  }

  /** Returns what Spark says against the query or statement that is analyzed; nothing if it can be. */
  private static Optional<AnalysisException> problem(Runnable analysis) {
    try {
      analysis.run();
      return Optional.empty();
    } catch (Exception error) {
      if (error instanceof AnalysisException refused) {
        return Optional.of(refused);
      }
      throw error;
    }
  }

  private static RuntimeException refusal(TableAtEpoch table, AnalysisException problem) {
    String place = problem.getMessageParameters().get("colName");
    String sentence =
        place == null
            ? problem.getSimpleMessage()
            : "The source has no values for " + place + "; add it to the source.";
    return ColonnadeException.unchecked(
        "COLONNADE_INVALID_INPUT",
        String.format(
            "Table %s cannot take the rows of the MERGE, and is unchanged. %s",
            table.path(), sentence));
  }
}
