package colonnade.write;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;

/** Creates the writers of tasks that also delete rows. */
public record RowChangeWriterFactory(WriteTask task) implements DeltaWriterFactory {
  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new RowChangeWriter(task.open());
  }
}
