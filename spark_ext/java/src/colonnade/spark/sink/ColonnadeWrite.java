package colonnade.spark.sink;

import colonnade.write.TaskWriterFactory;
import java.util.function.BiConsumer;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;

/**
 * A planned write. Each task receives its rows by partition and in the order of the sort key, and
 * writes RowSets that no reader sees. The commit makes all of them visible in one epoch.
 */
final class ColonnadeWrite implements RequiresDistributionAndOrdering, BatchWrite {
  private final String kind;
  private final PlannedWrite planned;
  private final BiConsumer<PlannedWrite, WriterCommitMessage[]> end;
  private IdentityValues identities = IdentityValues.NONE;

  ColonnadeWrite(
      String kind, PlannedWrite planned, BiConsumer<PlannedWrite, WriterCommitMessage[]> end) {
    this.kind = kind;
    this.planned = planned;
    this.end = end;
  }

  @Override
  public String description() {
    return "colonnade";
  }

  /** Returns the text that query plans show. */
  @Override
  public String toString() {
    return kind;
  }

  @Override
  public Distribution requiredDistribution() {
    return planned.distribution();
  }

  /** Allows Spark to divide a partition with many rows between tasks. */
  @Override
  public boolean distributionStrictlyRequired() {
    return false;
  }

  @Override
  public SortOrder[] requiredOrdering() {
    return planned.ordering();
  }

  @Override
  public BatchWrite toBatch() {
    return this;
  }

  @Override
  public StreamingWrite toStreaming() {
    throw ColonnadeWriteBuilder.ofStream(planned.path());
  }

  @Override
  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    identities = planned.identities();
    return new TaskWriterFactory(planned.writeTask(identities));
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    identities.close();
    end.accept(planned, messages);
  }

  /**
   * Deletes no object. Spark also calls this after a commit that threw an error but may have
   * succeeded, and while tasks may still run. Vacuum removes the objects that no epoch names.
   */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    identities.close();
  }
}
