package colonnade.write;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;

/** Creates the writers of tasks whose rows are all new. */
public record ColonnadeWriterFactory(WriteTask task) implements DataWriterFactory {
  @Override
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new TaskWriter(task.open());
  }
}
