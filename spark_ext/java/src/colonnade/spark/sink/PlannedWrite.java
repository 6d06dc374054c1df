package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.spark.quirks.CachedReads;
import colonnade.spark.quirks.SparkCondition;
import colonnade.spark.table.ColumnName;
import colonnade.spark.table.ExpressionTree;
import colonnade.spark.table.PartitionLayout;
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
 * A write that is planned: its transaction and base epoch are fixed.
 *
 * @param job the planner's job, for the commit
 * @param task what each task must know of the job
 * @param path of the table
 * @param database that of the table, or null where the write creates it
 * @param rows the columns that Spark will give
 * @param sortKey a list of {"column", "descending"}
 * @param layout what the table is partitioned by
 * @param exact whether the planner finds the rows that are overwritten; otherwise Spark must
 */
public record PlannedWrite(
    String job,
    String task,
    String path,
    String database,
    StructType rows,
    JsonNode sortKey,
    PartitionLayout layout,
    boolean exact) {

  /** Makes the rows that tasks report visible in one epoch. May be called again. */
  public void commit(WriterCommitMessage[] messages) {
    send("commit_write", Map.of("messages", texts(messages)));
  }

  /**
   * Commits an append. If it is a MERGE that inserts, {@code merged} are the columns by which it
   * looked for existing rows.
   */
  void append(Optional<List<String>> merged, WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("messages", texts(messages));
    merged.ifPresent(keys -> more.put("merged", keys));
    send("commit_write", more);
  }

  /** Commits what tasks report that deleted, moved and added rows. */
  public void commit(RowChange change, WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("kind", change.kind());
    more.put("filters", change.filters());
    more.put("keys", change.keys());
    more.put("messages", texts(messages));
    send("commit_rows", more);
  }

  /**
   * Commits rows that replace those which meet a condition; {@code filters} describe the condition
   * to the planner.
   */
  void replace(
      SparkCondition condition,
      List<Map<String, Object>> filters,
      WriterCommitMessage[] messages) {
    Map<String, Object> more = new HashMap<>();
    more.put("filters", filters);
    more.put("messages", texts(messages));
    more.put("replaced", condition.rows());
    send("commit_replacement", more);
  }

  /** Deletes the rows that filters select, without tasks. */
  void delete(Predicate[] filters) {
    send("delete_where", Map.of("filters", ExpressionTree.of(filters)));
  }

  /** Rows of a partition in one task, so that it needs few RowSets; which task does not matter. */
  Distribution distribution() {
    return layout.clustering().length == 0
        ? Distributions.unspecified()
        : Distributions.clustered(layout.clustering());
  }

  /** Rows of a partition next to each other, in the order of the sort key. */
  SortOrder[] ordering() {
    return layout.ordering(sortOrders());
  }

  private SortOrder[] sortOrders() {
    List<SortOrder> orders = new ArrayList<>();
    for (JsonNode field : sortKey) {
      boolean descending = field.get("descending").asBoolean();
      // NULL is first ascending and last descending, as Spark has it by default.
      SortDirection direction = descending ? SortDirection.DESCENDING : SortDirection.ASCENDING;
      orders.add(Expressions.sort(ColumnName.reference(field.get("column").asText()), direction));
    }
    return orders.toArray(SortOrder[]::new);
  }

  private void send(String op, Map<String, ?> more) {
    Map<String, Object> args = new HashMap<>(more);
    args.put("job", job);
    args.put("database", database);
    Planner.call(op, args);
    CachedReads.refresh(path);
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
