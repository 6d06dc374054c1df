package colonnade.spark.sink;

import colonnade.planner.HadoopSettings;
import colonnade.planner.Planner;
import colonnade.planner.messages.Clauses.OrderField;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.planner.messages.Request;
import colonnade.planner.messages.Writes.CommitOverwrite;
import colonnade.planner.messages.Writes.CommitRows;
import colonnade.planner.messages.Writes.CommitWrite;
import colonnade.planner.messages.Writes.Committed;
import colonnade.planner.messages.Writes.PlannedJob;
import colonnade.spark.quirks.changes.HistoryTexts;
import colonnade.spark.quirks.changes.KeyedMerges;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.quirks.writes.IdentityEndpoint;
import colonnade.spark.quirks.writes.SparkCondition;
import colonnade.spark.table.ColumnName;
import colonnade.spark.table.PartitionLayout;
import colonnade.write.RowCheck;
import colonnade.write.WriteTask;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * A write that is planned, with a fixed transaction and base epoch.
 *
 * @param plan what the planner says of it
 * @param rows the columns that Spark will write
 * @param layout the partition layout of the table
 * @param checks what each row must meet when it has the values of identity columns
 */
public record PlannedWrite(
    PlannedJob plan, StructType rows, PartitionLayout layout, List<RowCheck> checks) {

  /** Returns this write with one more condition that each row must meet. */
  PlannedWrite with(RowCheck check) {
    List<RowCheck> all = new ArrayList<>(checks);
    all.add(check);
    return new PlannedWrite(plan, rows, layout, List.copyOf(all));
  }

  /** Whether the planner finds the rows to overwrite. If not, Spark must find them. */
  boolean exact() {
    return plan.exact();
  }

  /** Returns the path of the table. */
  public String path() {
    return plan.path();
  }

  /** Makes the rows that tasks report visible in one epoch. Safe to call again. */
  public void commit(WriterCommitMessage[] messages) {
    send(new CommitWrite(job(), database(), texts(messages), null, HistoryTexts.NOTHING));
  }

  /**
   * Commits an append. A MERGE that inserts compares {@code merged}, its key columns, with existing
   * rows. Where a MERGE by the primary key is an append, several of its rows may match one row of
   * the table, which is Spark's error.
   */
  void append(Optional<List<String>> merged, WriterCommitMessage[] messages) {
    Committed done =
        send(
            new CommitWrite(
                job(), database(), texts(messages), merged.orElse(null), HistoryTexts.running()));
    if (done.refused() != null) {
      throw KeyedMerges.repeatedMatch();
    }
  }

  /**
   * Commits the deleted, moved and added rows that tasks report, with the replaced columns. Throws
   * {@link ColumnConflict} if only the replaced columns are in conflict with a concurrent writer.
   */
  public void commit(RowChange change, WriterCommitMessage[] messages) {
    Committed done =
        send(
            new CommitRows(
                job(), database(), change.kind(), texts(messages), change.filters(),
                change.keys(), change.replaced(), change.history().get()));
    if (done.refused() != null) {
      throw new ColumnConflict(done.refused());
    }
  }

  /**
   * Commits rows that replace the rows which meet a condition. {@code filters} describes the
   * condition to the planner.
   */
  void replace(SparkCondition condition, List<Tree> filters, WriterCommitMessage[] messages) {
    send(
        new CommitOverwrite(job(), database(), texts(messages), condition.rows(), filters));
  }

  /**
   * Asks Spark for all rows of a partition in one task, so that they need few RowSets. Any task
   * will do.
   */
  Distribution distribution() {
    return layout.clustering().length == 0
        ? Distributions.unspecified()
        : Distributions.clustered(layout.clustering());
  }

  /** Asks Spark for the rows of a partition next to each other, in the order of the sort key. */
  SortOrder[] ordering() {
    return layout.ordering(sortOrders());
  }

  private SortOrder[] sortOrders() {
    List<SortOrder> orders = new ArrayList<>();
    for (OrderField field : plan.ordering()) {
      // The order has Spark's default for NULL: first in ascending and last in descending order.
      SortDirection direction = field.descending() ? SortDirection.DESCENDING : SortDirection.ASCENDING;
      orders.add(Expressions.sort(ColumnName.reference(field.column()), direction));
    }
    return orders.toArray(SortOrder[]::new);
  }

  /** Begins to give tasks the values of identity columns. The caller must close what it returns. */
  IdentityValues identities() {
    return plan.identified()
        ? new IdentityValues(IdentityEndpoint.open(job()))
        : IdentityValues.NONE;
  }

  /** Returns what the tasks receive, which take values of identity columns from the source. */
  WriteTask writeTask(IdentityValues identities) {
    return new WriteTask(plan.task(), rows, storeSettings(), checks, identities.source(), null, false);
  }

  /** Returns the settings that tasks need to reach the store. They hold secrets. */
  Map<String, String> storeSettings() {
    return HadoopSettings.ofTasks(path());
  }

  /** Returns the planner's job, which the commit needs. */
  String job() {
    return plan.job();
  }

  /** Returns the database of the table; null if the write creates it. */
  String database() {
    return plan.database();
  }

  private Committed send(Request<Committed> request) {
    Committed reply = Planner.call(request);
    CachedReads.refresh(path());
    return reply;
  }

  private static List<String> texts(WriterCommitMessage[] messages) {
    List<String> texts = new ArrayList<>();
    for (WriterCommitMessage message : messages) {
      if (message != null) {
        byte[] bytes = ((PythonWriterCommitMessage) message).pickledMessage();
        texts.add(new String(bytes, StandardCharsets.UTF_8));
      }
    }
    return texts;
  }
}
