package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.planner.messages.Clauses.Design;
import colonnade.planner.messages.Clauses.Layout;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.planner.messages.Clauses.UserColumns;
import colonnade.planner.messages.Views.NamedView;
import colonnade.planner.messages.Writes.PlanWrite;
import colonnade.planner.messages.Writes.PlannedJob;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.quirks.statement.StatementTag;
import colonnade.spark.quirks.writes.AppendColumns;
import colonnade.spark.table.GeneratedColumn;
import colonnade.spark.table.PartitionLayout;
import colonnade.write.RowCheck;
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
 * @param view what the statement has read, or null for the newest state
 * @param design of a table to create, or null
 * @param where filters that select the rows to overwrite, or null for all
 * @param dynamic whether it overwrites just the partitions that its rows are of
 * @param callable whether Spark finds the partition transforms as functions
 * @param userColumns what the planner says of the columns that the user gave; null if that is all
 *     columns
 * @param checks what each row must meet when it has the values of identity columns
 * @param layout the partitions and sort key of the table, if it is new or gets new columns, or null
 */
public record WriteRequest(
    String path,
    StructType rows,
    List<String> filled,
    Map<String, String> options,
    NamedView view,
    Design design,
    boolean overwrite,
    List<Tree> where,
    boolean dynamic,
    boolean callable,
    UserColumns userColumns,
    List<RowCheck> checks,
    Layout layout) {
  public static WriteRequest append(String path, StructType rows, Map<String, String> options) {
    List<String> filled = GeneratedColumn.computedIn(rows);
    return new WriteRequest(
        path, rows, filled, options, null, null, false, null, false, true, null, List.of(), null);
  }

  /** Returns the request of a statement that writes no rows to a table with these columns. */
  public static WriteRequest withoutRows(
      String path, StructType columns, Map<String, String> options) {
    return new WriteRequest(
        path, columns, null, options, null, null, false, null, false, true, null, List.of(), null);
  }

  /** Returns the request for the state of a table that a statement has read. */
  public WriteRequest basedOn(ColonnadeTable table) {
    boolean functions = table.layout().callable();
    UserColumns merged = AppendColumns.of(table);
    // A statement that writes no rows has none to check.
    List<RowCheck> late = filled == null ? List.of() : table.lateChecks(rows);
    return new WriteRequest(
        path, rows, filled, options, table.view(), design, overwrite, where, dynamic, functions,
        merged, late, layout);
  }

  public WriteRequest creating(Design table) {
    return new WriteRequest(
        path, rows, filled, options, view, table, overwrite, where, dynamic, callable, userColumns,
        checks, layout);
  }

  public WriteRequest overwriting(List<Tree> filters) {
    return new WriteRequest(
        path, rows, filled, options, view, design, true, filters, false, callable, userColumns,
        checks, layout);
  }

  /** Returns the request with the options of the statement, too. Its own take precedence. */
  public WriteRequest withOptions(Map<String, String> ofStatement) {
    Map<String, String> all = new HashMap<>(ofStatement);
    all.putAll(options);
    return new WriteRequest(
        path, rows, filled, all, view, design, overwrite, where, dynamic, callable,
        userColumns, checks,
        layout);
  }

  /** Returns the request with the layout that the writer asks for, in the planner's terms. */
  public WriteRequest laidOut(Layout asked) {
    return new WriteRequest(
        path, rows, filled, options, view, design, overwrite, where, dynamic, callable, userColumns,
        checks, asked);
  }

  WriteRequest overwritingPartitions() {
    return new WriteRequest(
        path, rows, filled, options, view, design, true, null, true, callable, userColumns,
        checks, layout);
  }

  /** Returns what the write does, for query plans. */
  String kind() {
    if (userColumns != null && userColumns.keys() != null) {
      return "merge by the primary key";
    }
    return overwrite ? "overwrite" : "append";
  }

  /** The planned write; nothing is written. Fails where the columns do not fit the table. */
  public PlannedWrite plan() {
    PlannedJob planned =
        Planner.call(
            new PlanWrite(
                path, rows.json(), options, view, design, overwrite, where, dynamic,
                StatementTag.running(), filled, userColumns, layout, PlannedQuery.number()));
    return new PlannedWrite(
        planned, rows, PartitionLayout.of(planned.partitioning(), callable), checks);
  }
}
