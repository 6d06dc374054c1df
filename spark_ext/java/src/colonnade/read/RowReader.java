package colonnade.read;

import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Returns the rows of batches one by one, where Spark generates no code for columns. Each row is
 * valid until the next one.
 */
final class RowReader implements PartitionReader<InternalRow> {
  private final PartitionReader<ColumnarBatch> batches;
  private final BatchRow row = new BatchRow();

  RowReader(PartitionReader<ColumnarBatch> batches) {
    this.batches = batches;
  }

  @Override
  public boolean next() throws IOException {
    while (!row.advance()) {
      if (!batches.next()) {
        return false;
      }
      row.enter(batches.get());
    }
    return true;
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
