package colonnade.catalog;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.command.CreateTableLikeCommand;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * For {@code spark.sql.extensions}: has a session load the catalog in the place of Spark's own before
 * {@code CREATE TABLE … LIKE}, which Spark 4.1 carries out without it where that is the first
 * statement.
 */
public final class SessionExtension extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  private static final Rule<LogicalPlan> LOAD_CATALOG =
      new Rule<>() {
        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          if (plan instanceof CreateTableLikeCommand) {
            SparkSession.active().catalog().currentDatabase();
          }
          return plan;
        }
      };

  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectPostHocResolutionRule(session -> LOAD_CATALOG);
    return BoxedUnit.UNIT;
  }
}
