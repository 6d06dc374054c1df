package colonnade.spark.scan;

import colonnade.planner.HadoopSettings;
import colonnade.planner.messages.Queries.PlannedScan;
import colonnade.read.ColonnadeReaderFactory;
import colonnade.read.ScanTask;
import colonnade.spark.scan.ScanRequest.Grouping;
import colonnade.spark.table.PartitionKeys;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.partitioning.KeyGroupedPartitioning;
import org.apache.spark.sql.connector.read.partitioning.Partitioning;
import org.apache.spark.sql.connector.read.partitioning.UnknownPartitioning;

/** The tasks of a scan. They are planned on first use and then fixed. */
final class ColonnadeBatch implements Batch {
  private final ScanRequest request;
  private final PartitionKeys keys;
  private final Grouping grouping;
  private final boolean apart;
  private final boolean inOrder;
  private PlannedScan plan;

  /**
   * Creates a batch. Each task reads rows of one partition key if this does not make a task too
   * long. If {@code inOrder}, its rows are in the order of the sort key where that is possible.
   */
  ColonnadeBatch(ScanRequest request, PartitionKeys keys, boolean inOrder) {
    this(request, keys, keys.isEmpty() ? Grouping.NONE : Grouping.WHERE_FAIR, false, inOrder);
  }

  private ColonnadeBatch(
      ScanRequest request, PartitionKeys keys, Grouping grouping, boolean apart, boolean inOrder) {
    this.request = request;
    this.keys = keys;
    this.grouping = grouping;
    this.apart = apart;
    this.inOrder = inOrder;
  }

  /**
   * Returns a batch for another request with the partitioning that this batch has reported to
   * Spark. If {@code ordered}, it also has the order that this batch has reported: by tasks of the
   * same kind, or else by tasks that read one RowSet, because the rows of each RowSet are sorted.
   */
  ColonnadeBatch alike(ScanRequest other, boolean ordered) {
    Grouping same = isGrouped() ? Grouping.ALWAYS : Grouping.NONE;
    return new ColonnadeBatch(other, keys, same, ordered, plan().inOrder());
  }

  /** Whether tasks merge RowSets. They return rows then. */
  boolean merges() {
    return plan().merges();
  }

  synchronized PlannedScan plan() {
    if (plan == null) {
      plan = request.plan(apart, inOrder, grouping);
    }
    return plan;
  }

  /** Whether all rows of each task have the same partition key. */
  boolean isGrouped() {
    return grouping != Grouping.NONE && !plan().partitioning().isEmpty();
  }

  /**
   * Returns the partitioning of the tasks. It is by partition key if each task has only one key. A
   * single task counts as grouped by nothing, so that Spark needs no shuffle after it.
   */
  Partitioning partitioning() {
    int tasks = plan().tasks().size();
    if (isGrouped()) {
      return new KeyGroupedPartitioning(keys.transforms(), tasks);
    }
    return tasks == 1
        ? new KeyGroupedPartitioning(new Expression[0], tasks)
        : new UnknownPartitioning(tasks);
  }

  @Override
  public InputPartition[] planInputPartitions() {
    List<String> tasks = plan().tasks();
    List<List<String>> partitions = isGrouped() ? plan().partitions() : null;
    return IntStream.range(0, tasks.size())
        .mapToObj(at -> new ScanTask(tasks.get(at), key(partitions, at)))
        .toArray(InputPartition[]::new);
  }

  private InternalRow key(List<List<String>> partitions, int task) {
    return partitions == null ? InternalRow.empty() : keys.key(partitions.get(task));
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    String url = request.view().url();
    String statics = plan().statics();
    return new ColonnadeReaderFactory(request.schema(), statics, HadoopSettings.ofTasks(url));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColonnadeBatch batch && request.equals(batch.request);
  }

  @Override
  public int hashCode() {
    return request.hashCode();
  }
}
