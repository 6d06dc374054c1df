package colonnade.rowset;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Gives what aggregate functions make of one task: one row, or a few where a sum is in parts. A
 * value that is NULL, or has been given already, is NULL.
 */
final class AggregatingReader implements PartitionReader<InternalRow> {
  private final PartitionReader<ColumnarBatch> batches;
  private final List<TaskAggregate> aggregates;
  private final List<Accumulator> accumulators;
  private boolean ended;
  private InternalRow row;

  AggregatingReader(PartitionReader<ColumnarBatch> batches, List<TaskAggregate> aggregates) {
    this.batches = batches;
    this.aggregates = aggregates;
    this.accumulators = aggregates.stream().map(TaskAggregate::accumulator).toList();
  }

  @Override
  public boolean next() throws IOException {
    while (!hasParts() && !ended) {
      if (batches.next()) {
        add(batches.get());
      } else {
        ended = true;
        accumulators.forEach(Accumulator::end);
      }
    }
    if (!hasParts()) {
      return false;
    }
    row = new GenericInternalRow(accumulators.stream().map(each -> each.parts.poll()).toArray());
    return true;
  }

  private boolean hasParts() {
    return accumulators.stream().anyMatch(each -> !each.parts.isEmpty());
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
