package colonnade.spark.sink;

import colonnade.planner.HadoopSettings;
import colonnade.planner.Planner;
import colonnade.spark.quirks.changes.KeyedMerges;
import colonnade.spark.quirks.changes.ToldChange;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.quirks.writes.IdentityEndpoint;
import colonnade.spark.quirks.writes.SparkCondition;
import colonnade.spark.table.ColumnName;
import colonnade.spark.table.ExpressionTree;
import colonnade.spark.table.PartitionLayout;
import colonnade.write.RowCheck;
import colonnade.write.WriteTask;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * A write that is planned, with a fixed transaction and base epoch.
 *
 * @param job the planner's job, which the commit needs
 * @param task the part of the job that each task needs
 * @param path the path of the table
 * @param database the database of the table; null if the write creates it
 * @param rows the columns that Spark will write
 * @param sortKey a list of {"column", "descending"}
 * @param layout the partition layout of the table
 * @param exact whether the planner finds the rows to overwrite; if false, Spark must find them
 * @param identified whether the table has identity columns
 * @param checks what each row must meet when it has their values
 */
public record PlannedWrite(
    String job,
    String task,
    String path,
    String database,
    StructType rows,
    JsonNode sortKey,
    PartitionLayout layout,
    boolean exact,
    boolean identified,
    List<RowCheck> checks) {

  /** Returns this write with one more condition that each row must meet. */
  PlannedWrite with(RowCheck check) {
    List<RowCheck> all = new ArrayList<>(checks);
    all.add(check);
    return new PlannedWrite(
        job, task, path, database, rows, sortKey, layout, exact, identified, List.copyOf(all));
  }

  /** Makes the rows that tasks report visible in one epoch. Safe to call again. */
  public void commit(WriterCommitMessage[] messages) {
    send("commit_write", Map.of("messages", texts(messages)));
  }

  /**
   * Commits an append. A MERGE that inserts compares {@code merged}, its key columns, with existing
   * rows. Where a MERGE by the primary key is an append, several of its rows may match one row of
   * the table, which is Spark's error.
   */
  void append(Optional<List<String>> merged, WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("messages", texts(messages));
    merged.ifPresent(keys -> more.put("merged", keys));
    more.put("told", ToldChange.running());
    if (send("commit_write", more).hasNonNull("repeated")) {
      throw KeyedMerges.repeatedMatch();
    }
  }

  /**
   * Commits the deleted, moved and added rows that tasks report, with the replaced columns. Throws
   * {@link ColumnConflict} if only the replaced columns are in conflict with a concurrent writer.
   */
  public void commit(RowChange change, WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("kind", change.kind());
    more.put("filters", change.filters());
    more.put("keys", change.keys());
    more.put("told", change.told().get());
    more.put("messages", texts(messages));
    more.put("columns", change.replaced());
    JsonNode done = send("commit_rows", more);
    if (done.hasNonNull("conflict")) {
      throw new ColumnConflict(done.get("conflict").asText());
    }
  }

  /**
   * Commits rows that replace the rows which meet a condition. {@code filters} describes the
   * condition to the planner.
   */
  void replace(
      SparkCondition condition,
      List<Map<String, Object>> filters,
      WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("filters", filters);
    more.put("messages", texts(messages));
    more.put("overwritten", condition.rows());
    send("commit_overwrite", more);
  }

  /** Deletes the rows that filters select, without tasks. */
  void delete(Predicate[] filters) {
    send(
        "delete_where",
        Map.of("filters", ExpressionTree.of(filters), "told", ToldChange.running()));
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
    for (JsonNode field : sortKey) {
      boolean descending = field.get("descending").asBoolean();
      // The order has Spark's default for NULL: first in ascending and last in descending order.
      SortDirection direction = descending ? SortDirection.DESCENDING : SortDirection.ASCENDING;
      orders.add(Expressions.sort(ColumnName.reference(field.get("column").asText()), direction));
    }
    return orders.toArray(SortOrder[]::new);
  }

  /** Begins to give tasks the values of identity columns. The caller must close what it returns. */
  IdentityValues identities() {
    return identified ? new IdentityValues(IdentityEndpoint.open(job)) : IdentityValues.NONE;
  }

  /** Returns what the tasks receive, which take values of identity columns from the source. */
  WriteTask writeTask(IdentityValues identities) {
    return new WriteTask(task, rows, storeSettings(), checks, identities.source(), null, false);
  }

  /** Returns the settings that tasks need to reach the store. They hold secrets. */
  Map<String, String> storeSettings() {
    return HadoopSettings.ofTasks(path);
  }

  /** Returns what names this write in requests to the planner. */
  Map<String, Object> named() {
    Map<String, Object> args = new HashMap<>();
    args.put("job", job);
    args.put("database", database);
    return args;
  }

  private JsonNode send(String op, Map<String, ?> more) {
    Map<String, Object> args = named();
    args.putAll(more);
    JsonNode reply = Planner.call(op, args);
    CachedReads.refresh(path);
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
