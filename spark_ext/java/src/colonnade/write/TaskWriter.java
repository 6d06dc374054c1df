package colonnade.write;

import colonnade.format.rowset.JsonRecords;
import colonnade.format.rowset.RowNumbers;
import colonnade.store.TaskFailure;
import colonnade.write.rowset.Origins;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;

/**
 * Writes the rows of one attempt of a task: those that are new, and of a statement that changes rows
 * also those that replace others. Collects the deleted rows. Each attempt uses its own object ids.
 *
 * <p>Deleted and replaced rows are named by their handler, RowSet id {@code << 32 |} row number. The
 * commit message is a {@link TaskReport} as JSON in a class of Spark: the driver thread that receives
 * it may not know the classes of this jar.
 */
final class TaskWriter implements DeltaWriter<InternalRow> {
  private final RowWriter writer;
  private final RowNumbers deleted = new RowNumbers();

  TaskWriter(RowWriter writer) {
    this.writer = writer;
  }

  @Override
  public void delete(InternalRow metadata, InternalRow id) {
    deleted.add(id.getLong(0));
  }

  @Override
  public void update(InternalRow metadata, InternalRow id, InternalRow row) throws IOException {
    write(row, id.getLong(0));
  }

  @Override
  public void insert(InternalRow row) throws IOException {
    write(row, Origins.NEW);
  }

  private void write(InternalRow row, long origin) throws IOException {
    try {
      writer.write(row, origin);
    } catch (IOException error) {
      throw TaskFailure.of(error);
    }
  }

  @Override
  public WriterCommitMessage commit() throws IOException {
    try {
      return new PythonWriterCommitMessage(
          JsonRecords.write(TaskReport.of(writer.finish(), deleted)));
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
