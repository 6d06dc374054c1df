package colonnade.spark.quirks.changes;

import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A strategy for {@code DELETE FROM} a table with a char column, without a condition. Spark puts the
 * step that pads the column between the statement and the table, and then does not find the table.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DeleteFromTable} over {@code Project} over {@code
 * DataSourceV2ScanRelation}.
 */
public final class PaddedDeletes extends SparkStrategy {
  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    List<SparkPlan> planned = List.of(); // Spark goes on
    if (plan instanceof DeleteFromTable delete
        && delete.table() instanceof Project padded
        && padded.child() instanceof DataSourceV2ScanRelation scan
        && scan.relation().table() instanceof TableAtEpoch
        && delete.condition().references().isEmpty()) {
      planned = List.of(planLater(new DeleteFromTable(scan, delete.condition())));
    }
    return CollectionConverters.asScala(planned).toSeq();
  }
}
