package colonnade.spark.feed;

import colonnade.planner.HadoopSettings;
import colonnade.planner.messages.Feed.AskedChanges;
import colonnade.planner.messages.Feed.PlannedChanges;
import colonnade.read.feed.ChangesReaderFactory;
import colonnade.read.feed.ChangesTask;
import colonnade.spark.scan.LogStatistics;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * One use of the changes of a table in a query. It is planned on first use, and then fixed. Scans
 * with equal requests are equal, so that Spark reads them once.
 */
final class ChangesScan implements SupportsReportStatistics, Batch {
  private final ChangesRequest request;
  private final String reads;
  private final ChangesStream stream;
  private PlannedChanges plan;
  private boolean streamed;

  /**
   * Creates a scan.
   *
   * @param reads its columns and filters, for plans that people look at
   * @param stream these changes as a stream; null if they cannot be read as one
   */
  ChangesScan(ChangesRequest request, String reads, ChangesStream stream) {
    this.request = request;
    this.reads = reads;
    this.stream = stream;
  }

  private synchronized PlannedChanges plan() {
    if (plan == null) {
      plan = request.plan();
    }
    return plan;
  }

  @Override
  public StructType readSchema() {
    return request.schema();
  }

  @Override
  public String description() {
    AskedChanges changes = request.loaded().changes();
    String from = changes.start() == null ? "" : " from " + changes.start();
    String to = changes.end() == null ? "" : " to " + changes.end();
    return (changes.net() ? "net changes" : "changes") + from + to + ", " + reads;
  }

  /** Spark takes rows, and not columns, because updates are compared row by row. */
  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.UNSUPPORTED;
  }

  @Override
  public Statistics estimateStatistics() {
    // What a batch of a stream reads is not known before Spark has its offsets.
    return streamed
        ? new UnknownStatistics()
        : new LogStatistics(plan().rows(), plan().bytes(), Map.of(), request.schema());
  }

  @Override
  public Batch toBatch() {
    if (stream != null) {
      stream.refuseOptions();
    }
    return this;
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpoint) {
    if (stream == null) {
      return SupportsReportStatistics.super.toMicroBatchStream(checkpoint);
    }
    streamed = true;
    return stream.batches(request.feed(), request.schema(), checkpoint);
  }

  @Override
  public InputPartition[] planInputPartitions() {
    if (plan().tasks().isEmpty()) {
      request.moveConsumer(); // Spark asks for no readers
    }
    return plan().tasks().stream().map(ChangesTask::new).toArray(InputPartition[]::new);
  }

  /** Spark asks for readers if it runs the query, and not if it only explains it. */
  @Override
  public PartitionReaderFactory createReaderFactory() {
    request.moveConsumer();
    return new ChangesReaderFactory(
        request.feed(), request.schema(), HadoopSettings.ofTasks(request.loaded().view().url()));
  }

  private record UnknownStatistics() implements Statistics {
    @Override
    public OptionalLong sizeInBytes() {
      return OptionalLong.empty();
    }

    @Override
    public OptionalLong numRows() {
      return OptionalLong.empty();
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ChangesScan scan && request.equals(scan.request);
  }

  @Override
  public int hashCode() {
    return request.hashCode();
  }
}
