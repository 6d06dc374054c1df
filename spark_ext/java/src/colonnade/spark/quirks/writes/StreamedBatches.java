package colonnade.spark.quirks.writes;

import colonnade.spark.table.TableAtEpoch;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.streaming.WriteToStream;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule for streams that write to a table by its name. It checks them when they start, and takes
 * their batches for {@link StreamedBatchPlans} to plan them. Spark would plan a {@code
 * StreamingWrite} for each batch whose number the plan has, so the rule puts the number elsewhere.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteToStream} is the root of the plan of a stream, and
 * {@code WriteToMicroBatchDataSource} that of a batch. {@code V2Writes} plans a batch if it has a
 * {@code batchId}. It has the table itself on 4.1, and a relation on 4.3.
 */
public final class StreamedBatches extends Rule<LogicalPlan> {
  /** The option of the plan that has the number of its batch. */
  private static final String NUMBER = "colonnade.batch";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof WriteToStream stream && stream.sink() instanceof TableAtEpoch table) {
      StreamSink.ofTable(table, Map.of(), stream.outputMode()).check();
    }
    return plan instanceof WriteToMicroBatchDataSource write
            && write.batchId().isDefined()
            && table(write).isPresent()
        ? taken(write)
        : plan;
  }

  private static LogicalPlan taken(WriteToMicroBatchDataSource write) {
    Object[] parts = new Object[write.productArity()];
    for (int at = 0; at < parts.length; at++) {
      parts[at] =
          switch (write.productElementName(at)) {
            case "batchId" -> Option.empty();
            case "writeOptions" ->
                write.writeOptions().updated(NUMBER, write.batchId().get().toString());
            default -> write.productElement(at);
          };
    }
    return write.makeCopy(parts);
  }

  private static Optional<TableAtEpoch> table(WriteToMicroBatchDataSource write) {
    Object first = write.productElement(0);
    Object table =
        first instanceof DataSourceV2Relation relation ? relation.table() : write.productElement(1);
    return table instanceof TableAtEpoch ours ? Optional.of(ours) : Optional.empty();
  }

  /** Returns the number of a batch that the rule has taken. */
  static Optional<Long> number(WriteToMicroBatchDataSource write) {
    Option<String> number = write.writeOptions().get(NUMBER);
    return number.isDefined() ? Optional.of(Long.valueOf(number.get())) : Optional.empty();
  }

  /** Returns the sink of a batch that the rule has taken. */
  static StreamSink sink(WriteToMicroBatchDataSource write) {
    return StreamSink.ofTable(
        table(write).orElseThrow(),
        CollectionConverters.asJava(write.writeOptions().removed(NUMBER)),
        write.outputMode());
  }
}
