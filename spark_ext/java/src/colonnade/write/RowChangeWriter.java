package colonnade.write;

import colonnade.format.rowset.RowNumbers;
import colonnade.store.TaskFailure;
import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;

/**
 * Writes the row changes of one attempt of a task: collects the deleted rows and writes the new
 * rows and those that replace others.
 *
 * <p>Deleted and replaced rows are named by their handler, RowSet id {@code << 32 |} row number. The
 * commit message is the JSON that tableformat/statements/reported.py reads, in a class of Spark.
 */
final class RowChangeWriter implements DeltaWriter<InternalRow> {
  private final RowWriter writer;
  private final RowNumbers deleted = new RowNumbers();

  RowChangeWriter(RowWriter writer) {
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
      return new PythonWriterCommitMessage(TaskReport.of(writer.finish(), deleted));
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
