package colonnade.spark.quirks.changes;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule of the analyzer that makes an append of a MERGE which compares exactly the primary key of
 * its table. The rows of the append meet those of the table by their keys, as in an upsert, so
 * nothing is joined.
 *
 * <p>Seen on Spark 4.1 and 4.3: rules of this kind run last in each round of the analysis. {@code
 * WriteDelta} takes the place of {@code MergeIntoTable} in the round that has resolved it, and gets
 * the conditions of constraints in a later round.
 */
public final class KeyedMerges extends Rule<LogicalPlan> {
  /** Marks a statement that has to join, so that no later round looks at it again. */
  private static final TreeNodeTag<Boolean> JOINS = new TreeNodeTag<>("colonnade.joins");

  private static final AbstractPartialFunction<LogicalPlan, LogicalPlan> FIND =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(LogicalPlan plan) {
          return plan instanceof WriteDelta statement
              && statement.query() instanceof MergeRows merge
              && merge.resolved()
              && statement.getTagValue(JOINS).isEmpty();
        }

        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          LogicalPlan found =
              KeyedMerge.of((WriteDelta) plan).flatMap(KeyedMerge::append).orElse(plan);
          if (found == plan) {
            plan.setTagValue(JOINS, true);
          }
          return found;
        }
      };

  /** Returns Spark's error for several rows of a source that match one row of the table. */
  public static RuntimeException repeatedMatch() {
    return QueryExecutionErrors.mergeCardinalityViolationError();
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.resolveOperatorsUp(FIND);
  }
}
