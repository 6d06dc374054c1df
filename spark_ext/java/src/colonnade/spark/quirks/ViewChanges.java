package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A strategy that refuses to change a table through a view. Spark replaces a view by its query. So
 * a view that only selects, even as of an epoch, would be the table itself; a change through any
 * other view would be an internal error.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DeleteFromTable}, {@code UpdateTable} and {@code
 * MergeIntoTable}.
 */
final class ViewChanges extends SparkStrategy {
  static final SparkStrategy STRATEGY = new ViewChanges();

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    if (plan instanceof DeleteFromTable delete) {
      refuseViewOf(delete.table(), "DELETE");
    } else if (plan instanceof UpdateTable update) {
      refuseViewOf(update.table(), "UPDATE");
    } else if (plan instanceof MergeIntoTable merge) {
      refuseViewOf(merge.targetTable(), "MERGE");
    }
    return CollectionConverters.asScala(List.<SparkPlan>of()).toSeq(); // Spark goes on
  }

  private static void refuseViewOf(LogicalPlan target, String statement) {
    for (LogicalPlan leaf : CollectionConverters.asJava(target.collectLeaves())) {
      if (table(leaf) instanceof TableAtEpoch table && !table.isDeletedFrom()) {
        String sentence =
            String.format(
                "%s does not change tables through a view; name the table itself, which is %s.",
                statement, table.path());
        throw ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
      }
    }
  }

  private static Table table(LogicalPlan leaf) {
    if (leaf instanceof DataSourceV2ScanRelation scan) {
      return scan.relation().table();
    }
    return leaf instanceof DataSourceV2Relation relation ? relation.table() : null;
  }
}
