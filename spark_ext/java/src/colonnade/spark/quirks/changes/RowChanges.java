package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that has Spark analyze an {@code UPDATE} or {@code MERGE} of a Colonnade table here, where
 * its columns can be named before. Spark goes on with the analyzed statement.
 *
 * <p>The statement gets no filter for groups of rows. Spark 4.3 would add the source of a MERGE again
 * for it, and then refuse a source with random values. No scan of a statement takes that filter.
 *
 * <p>Seen on Spark 4.1 and 4.3: both statements name their table when the rule runs, and stand below
 * {@code WithCTE} after {@code WITH}. An analyzer leaves alone what another one has analyzed.
 */
public final class RowChanges extends Rule<LogicalPlan> {
  private static final ThreadLocal<Boolean> ANALYZING = ThreadLocal.withInitial(() -> false);

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = statement(plan);
    Optional<UnresolvedRelation> named = target(statement);
    if (ANALYZING.get() || named.filter(NamedTables::isInOwnCatalog).isEmpty()) {
      return plan;
    }
    ANALYZING.set(true);
    try {
      return analyzed(StarClauses.named(plan, named.get()));
    } finally {
      ANALYZING.remove();
    }
  }

  /** Returns a statement without its {@code WITH}. */
  static LogicalPlan statement(LogicalPlan plan) {
    return plan instanceof WithCTE with ? with.plan() : plan;
  }

  /** Returns the table that a name in a statement leads to. */
  static Optional<TableAtEpoch> table(UnresolvedRelation named) {
    return NamedTables.find(named.multipartIdentifier())
        .flatMap(
            relation ->
                relation.table() instanceof TableAtEpoch table
                    ? Optional.of(table)
                    : Optional.empty());
  }

  private static Optional<UnresolvedRelation> target(LogicalPlan statement) {
    LogicalPlan target =
        statement instanceof MergeIntoTable merge
            ? merge.targetTable()
            : statement instanceof UpdateTable update ? update.table() : null;
    if (target == null) {
      return Optional.empty();
    }
    List<LogicalPlan> leaves = CollectionConverters.asJava(target.collectLeaves());
    return leaves.size() == 1 && leaves.get(0) instanceof UnresolvedRelation named
        ? Optional.of(named)
        : Optional.empty();
  }

  private static LogicalPlan analyzed(LogicalPlan plan) {
    Option<QueryPlanningTracker> found = QueryPlanningTracker.get();
    QueryPlanningTracker tracker =
        found.isDefined() ? found.get() : new QueryPlanningTracker(Option.empty());
    SQLConf conf = SQLConf.get().clone();
    conf.setConfString(SQLConf.RUNTIME_ROW_LEVEL_OPERATION_GROUP_FILTER_ENABLED().key(), "false");
    return SQLConf.withExistingConf(
        conf,
        () -> SparkSession.active().sessionState().analyzer().executeAndCheck(plan, tracker));
  }
}
