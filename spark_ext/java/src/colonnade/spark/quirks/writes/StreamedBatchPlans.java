package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource;
import scala.collection.immutable.Seq;

/**
 * A strategy that plans the batches which {@link StreamedBatches} has taken, as {@link
 * StreamedBatchExec}.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteToMicroBatchDataSource}, whose query a stream plans by
 * strategies of its own.
 */
public final class StreamedBatchPlans extends SparkStrategy {
  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    if (plan instanceof WriteToMicroBatchDataSource write
        && StreamedBatches.number(write).isPresent()) {
      SparkPlan query = planLater(write.query());
      long number = StreamedBatches.number(write).orElseThrow();
      return seq(List.of(new StreamedBatchExec(query, StreamedBatches.sink(write), number)));
    }
    return seq(); // Spark goes on
  }
}
