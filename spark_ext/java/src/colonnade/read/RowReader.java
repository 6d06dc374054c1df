package colonnade.read;

import colonnade.read.vector.BatchRow;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Returns the rows of batches one by one, where Spark generates no code for columns. Each row is
 * valid until the next one.
 */
public final class RowReader implements PartitionReader<InternalRow> {
  private final PartitionReader<ColumnarBatch> batches;
  private final BatchRow row = new BatchRow();

  RowReader(PartitionReader<ColumnarBatch> batches) {
    this.batches = batches;
  }

  /** Creates a reader of the rows of a task, RowSet by RowSet. */
  public static RowReader of(
      JsonNode task, StructType readSchema, Map<String, String> hadoopConf) {
    return new RowReader(new ScanTaskReader(task, readSchema, hadoopConf));
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
