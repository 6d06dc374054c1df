package colonnade.spark.sink;

import colonnade.spark.quirks.changes.SetColumns;
import colonnade.write.TaskWriterFactory;
import colonnade.write.WriteTask;
import java.util.List;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.write.DeltaBatchWrite;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RequiresDistributionAndOrdering;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * A planned change of rows. Each task receives its rows by partition and in the order of the sort
 * key, and writes objects that no reader sees. The commit adds the new rows and deletes the old
 * ones in one epoch.
 */
final class RowChangeWrite
    implements DeltaWrite, RequiresDistributionAndOrdering, DeltaBatchWrite, SetColumns.Writer {
  private static final SortOrder[] UNSORTED = {};

  private final PlannedWrite planned;
  private final RowChange change;
  private IdentityValues identities = IdentityValues.NONE;

  RowChangeWrite(PlannedWrite planned, RowChange change) {
    this.planned = planned;
    this.change = change;
  }

  @Override
  public String description() {
    return "colonnade";
  }

  /** Returns the text that query plans show. */
  @Override
  public String toString() {
    return change.kind();
  }

  @Override
  public Distribution requiredDistribution() {
    return writesRows() ? planned.distribution() : Distributions.unspecified();
  }

  /** Allows Spark to divide a partition with many rows between tasks. */
  @Override
  public boolean distributionStrictlyRequired() {
    return false;
  }

  @Override
  public SortOrder[] requiredOrdering() {
    return writesRows() ? planned.ordering() : UNSORTED;
  }

  private boolean writesRows() {
    return !change.kind().equals("delete");
  }

  @Override
  public boolean mayReplace() {
    return !change.kind().equals("delete") && change.replaced() == null;
  }

  @Override
  public boolean replace(SetColumns columns) {
    boolean stored = change.table().statics().stream().noneMatch(columns.names()::contains);
    return stored && new ColumnChange(planned, change, columns).run();
  }

  @Override
  public DeltaBatchWrite toBatch() {
    return this;
  }

  @Override
  public DeltaWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
    List<String> set = List.of();
    if (change.replaced() == null) {
      change.requireSettable();
      set = change.setStatics();
    }
    identities = planned.identities();
    WriteTask task = planned.writeTask(identities);
    return new TaskWriterFactory(
        set.isEmpty() ? task : task.setting(set, change.setsOnly(set)));
  }

  @Override
  public void commit(WriterCommitMessage[] messages) {
    identities.close();
    planned.commit(change, messages);
  }

  /** Deletes no object, as after any failed write. Vacuum removes those that no epoch names. */
  @Override
  public void abort(WriterCommitMessage[] messages) {
    identities.close();
  }
}
