package colonnade.read.aggregates;

import colonnade.read.vector.ColonnadeVector;
import java.io.IOException;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Returns the aggregates of one task: one row, or more if a sum has several parts. A value is NULL
 * if the aggregate is NULL or has no further part. A row is valid until the next one.
 */
final class AggregatingReader implements PartitionReader<InternalRow> {
  private final PartitionReader<ColumnarBatch> batches;
  private final List<TaskAggregate> aggregates;
  private final List<Accumulator> accumulators;
  private final Object[] values;
  private final InternalRow row;
  private boolean ended;

  AggregatingReader(PartitionReader<ColumnarBatch> batches, List<TaskAggregate> aggregates) {
    this.batches = batches;
    this.aggregates = aggregates;
    this.accumulators = aggregates.stream().map(TaskAggregate::accumulator).toList();
    this.values = new Object[aggregates.size()];
    this.row = new GenericInternalRow(values);
  }

  @Override
  public boolean next() throws IOException {
    while (!take()) {
      if (ended) {
        return false;
      }
      // Spark checks for interruption only between rows, and this reader may return only one.
      TaskContext.get().killTaskIfInterrupted();
      if (batches.next()) {
        add(batches.get());
      } else {
        ended = true;
        accumulators.forEach(Accumulator::end);
      }
    }
    return true;
  }

  /** Puts the next parts into the row. Returns false after the last part. */
  private boolean take() {
    boolean any = false;
    for (int i = 0; i < values.length; i++) {
      values[i] = accumulators.get(i).take();
      any |= values[i] != null;
    }
    return any;
  }

  private void add(ColumnarBatch batch) {
    for (int i = 0; i < accumulators.size(); i++) {
      int column = aggregates.get(i).column();
      ColonnadeVector vector = column < 0 ? null : (ColonnadeVector) batch.column(column);
      accumulators.get(i).add(vector, batch.numRows());
    }
  }

  @Override
  public InternalRow get() {
    return row;
  }

  @Override
  public void close() throws IOException {
    batches.close();
  }
}
