package colonnade.spark.sink;

import java.util.function.BiConsumer;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** A planned write. Each task receives its rows by partition and in the order of the sort key. */
final class ColonnadeWrite implements RequiresDistributionAndOrdering {
  private final String kind;
  private final PlannedWrite planned;
  private final BiConsumer<PlannedWrite, WriterCommitMessage[]> end;

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
    return new ColonnadeBatchWrite(planned, end);
  }
}
