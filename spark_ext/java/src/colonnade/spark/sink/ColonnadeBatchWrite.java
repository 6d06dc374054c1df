package colonnade.spark.sink;

import colonnade.write.TaskWriterFactory;
import java.util.function.BiConsumer;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * A batch write. Its tasks write RowSets that no reader sees. The commit makes all of them visible
 * in one epoch.
 */
final class ColonnadeBatchWrite implements BatchWrite {
  private final PlannedWrite planned;
  private final BiConsumer<PlannedWrite, WriterCommitMessage[]> end;
  private IdentityValues identities = IdentityValues.NONE;

  ColonnadeBatchWrite(
      PlannedWrite planned, BiConsumer<PlannedWrite, WriterCommitMessage[]> end) {
    this.planned = planned;
    this.end = end;
  }

  @Override
  public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    identities = planned.identities();
    return new TaskWriterFactory(planned.writeTask(identities));
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    identities.close();
    end.accept(planned, messages);
  }

  /**
   * Deletes no object. Spark also calls this after a commit that threw an error but may have
   * succeeded, and while tasks may still run. Vacuum removes the objects that no epoch names.
   */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    identities.close();
  }
}
