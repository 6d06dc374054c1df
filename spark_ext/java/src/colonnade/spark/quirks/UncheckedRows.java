package colonnade.spark.quirks;

import colonnade.spark.table.TableAtEpoch;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;

/**
 * The rows of a table beside a new constraint, where Spark has not compared them.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataSourceV2Relation}.
 */
public final class UncheckedRows {
  private UncheckedRows() {}

  /** Whether a row of the table at its epoch makes the condition FALSE. Runs a query. */
  public static boolean contradict(TableAtEpoch table, String condition) {
    LogicalPlan rows = DataSourceV2Relation.create(table, Option.empty(), Option.empty());
    return !Dataset.ofRows(SparkSession.active(), rows)
        .where("NOT (" + condition + ")")
        .isEmpty();
  }
}
