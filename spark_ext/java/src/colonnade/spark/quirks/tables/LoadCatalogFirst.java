package colonnade.spark.quirks.tables;

import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.command.CreateTableLikeCommand;

/**
 * A rule that loads the session catalog before {@code CREATE TABLE … LIKE}. Spark 4.1 runs that
 * statement without the catalog where it is the first one of a session.
 *
 * <p>Seen on Spark 4.1: {@code CreateTableLikeCommand}. Spark 4.3 has the class as well, and the
 * rule does no harm there.
 */
public final class LoadCatalogFirst extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof CreateTableLikeCommand) {
      SparkSession.active().catalog().currentDatabase();
    }
    return plan;
  }
}
