package colonnade.write;

import colonnade.store.TaskFailure;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;

/**
 * Writes the rows of one attempt of one task. Each attempt uses its own object ids.
 *
 * <p>The commit message is the JSON of the RowSet entries in a class of Spark. The driver thread
 * that receives it may not know the classes of this jar.
 */
public final class TaskWriter implements DataWriter<InternalRow> {
  private final RowWriter writer;

  TaskWriter(RowWriter writer) {
    this.writer = writer;
  }

  @Override
  public void write(InternalRow row) throws IOException {
    try {
      writer.write(row, Origins.NEW);
    } catch (IOException error) {
      throw TaskFailure.of(error);
    }
  }

  @Override
  public WriterCommitMessage commit() throws IOException {
    try {
      return new PythonWriterCommitMessage(TaskReport.of(writer.finish()));
    } catch (IOException error) {
      throw TaskFailure.of(error);
    }
  }

  @Override
  public void abort() {
    writer.abort();
  }

  @Override
  public void close() {
    writer.close();
  }
}
