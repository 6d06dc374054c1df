package colonnade.spark.quirks.changes;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A strategy that puts {@link ColumnUpdateExec} above Spark's plan of an UPDATE or MERGE.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteDelta}, whose write is planned when a strategy meets it.
 */
public final class ColumnUpdates extends SparkStrategy {
  /** Marks a plan that is below a {@link ColumnUpdateExec} already. */
  private static final TreeNodeTag<Boolean> MET = new TreeNodeTag<>("colonnade.replaceColumns");

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    List<SparkPlan> planned = List.of(); // Spark goes on
    if (plan instanceof WriteDelta delta
        && delta.write().isDefined()
        && delta.write().get() instanceof SetColumns.Writer write
        && write.mayReplace()
        && delta.getTagValue(MET).isEmpty()) {
      delta.setTagValue(MET, true);
      planned = List.of(new ColumnUpdateExec(planLater(delta), delta.operation(), write));
    }
    return CollectionConverters.asScala(planned).toSeq();
  }
}
