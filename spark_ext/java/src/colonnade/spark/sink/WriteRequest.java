package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.quirks.statement.StatementTag;
import colonnade.spark.quirks.writes.GivenColumns;
import colonnade.spark.table.GeneratedColumn;
import colonnade.spark.table.PartitionLayout;
import colonnade.write.RowCheck;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.StructType;

/**
 * A write to be planned.
 *
 * @param rows the columns that Spark will give
 * @param filled those of them that Spark computes, or null for a statement that writes no rows
 * @param options the user's
 * @param seen database, table and epoch that the statement has read, or null for whatever is there
 * @param design of a table to create, or null
 * @param where filters that select the rows to overwrite, or null for all
 * @param dynamic whether it overwrites just the partitions that its rows are of
 * @param callable whether Spark finds the partition transforms as functions
 * @param evolving the columns of rows for which the write gives the table what it lacks, or null
 * @param given what the planner says of the columns that the user gave; null if that is all columns
 * @param checks what each row must meet when it has the values of identity columns
 * @param layout the partitions and sort key of the table, if it is new or gets new columns
 */
public record WriteRequest(
    String path,
    StructType rows,
    List<String> filled,
    Map<String, String> options,
    Map<String, Object> seen,
    Map<String, Object> design,
    boolean overwrite,
    List<Map<String, Object>> where,
    boolean dynamic,
    boolean callable,
    JsonNode evolving,
    JsonNode given,
    List<RowCheck> checks,
    Map<String, Object> layout) {
  public static WriteRequest append(String path, StructType rows, Map<String, String> options) {
    List<String> filled = GeneratedColumn.computedIn(rows);
    return new WriteRequest(
        path, rows, filled, options, null, null, false, null, false, true, null, null, List.of(),
        Map.of());
  }

  /** Returns the request of a statement that writes no rows to a table with these columns. */
  public static WriteRequest withoutRows(
      String path, StructType columns, Map<String, String> options) {
    return new WriteRequest(
        path, columns, null, options, null, null, false, null, false, true, null, null, List.of(),
        Map.of());
  }

  /** Returns the request for the state of a table that a statement has read. */
  public WriteRequest basedOn(ColonnadeTable table) {
    boolean functions = table.layout().callable();
    Map<String, Object> state = table.state();
    JsonNode brought = table.evolving();
    JsonNode merged = GivenColumns.of(table);
    // A statement that writes no rows has none to check.
    List<RowCheck> late = filled == null ? List.of() : table.lateChecks(rows);
    return new WriteRequest(
        path, rows, filled, options, state, design, overwrite, where, dynamic, functions, brought,
        merged, late, layout);
  }

  public WriteRequest creating(Map<String, Object> table) {
    return new WriteRequest(
        path, rows, filled, options, seen, table, overwrite, where, dynamic, callable, evolving,
        given, checks, layout);
  }

  public WriteRequest overwriting(List<Map<String, Object>> filters) {
    return new WriteRequest(
        path, rows, filled, options, seen, design, true, filters, false, callable, evolving,
        given, checks, layout);
  }

  /** Returns the request with the options of the statement, too. Its own take precedence. */
  public WriteRequest withOptions(Map<String, String> ofStatement) {
    Map<String, String> all = new HashMap<>(ofStatement);
    all.putAll(options);
    return new WriteRequest(
        path, rows, filled, all, seen, design, overwrite, where, dynamic, callable, evolving, given,
        checks, layout);
  }

  /** Returns the request with the layout that the writer asks for, in the planner's terms. */
  public WriteRequest laidOut(Map<String, Object> asked) {
    return new WriteRequest(
        path, rows, filled, options, seen, design, overwrite, where, dynamic, callable, evolving,
        given, checks, asked);
  }

  WriteRequest overwritingPartitions() {
    return new WriteRequest(
        path, rows, filled, options, seen, design, true, null, true, callable, evolving,
        given, checks, layout);
  }

  /** Returns what the write does, for query plans. */
  String kind() {
    if (given != null && given.has("keys")) {
      return "merge by the primary key";
    }
    return overwrite ? "overwrite" : "append";
  }

  /** The planned write; nothing is written. Fails where the columns do not fit the table. */
  public PlannedWrite plan() {
    Map<String, Object> args = new HashMap<>();
    args.put("path", path);
    args.put("schema", rows.json());
    args.put("options", options);
    args.put("seen", seen);
    args.put("design", design);
    args.put("overwrite", overwrite);
    args.put("where", where);
    args.put("dynamic", dynamic);
    args.put("transaction", StatementTag.running());
    args.put("filled", filled);
    args.put("evolving", evolving);
    args.put("given", given);
    args.put("layout", layout);
    JsonNode planned = Planner.call("plan_write", PlannedQuery.with(args));
    return new PlannedWrite(
        planned.get("job").asText(),
        planned.get("task").asText(),
        planned.get("path").asText(),
        planned.get("database").textValue(),
        rows,
        planned.get("ordering"),
        PartitionLayout.of(planned.get("partitioning"), callable),
        planned.get("exact").asBoolean(),
        planned.get("identified").asBoolean(),
        checks);
  }
}
