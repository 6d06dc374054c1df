package colonnade.spark.scan;

import colonnade.planner.Planner;
import colonnade.planner.messages.Queries.PlannedScan;
import colonnade.planner.messages.Queries.Scan;
import colonnade.planner.messages.Queries.Top;
import colonnade.planner.messages.Views.NamedView;
import colonnade.spark.table.ExpressionTree;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.StructType;

/**
 * The request of one use of a table in a query. Equal requests read the same rows.
 *
 * @param view names the table and what is seen of it
 * @param table the columns of the table itself
 * @param schema the columns to read, which may include metadata columns
 * @param filters all filters that Spark offered and will apply itself
 * @param limit the number of rows that suffice, or null
 * @param top the order and the number of the rows that suffice, or null
 */
record ScanRequest(
    NamedView view,
    StructType table,
    StructType schema,
    List<Predicate> filters,
    Long limit,
    Top top) {

  /**
   * Whether each task reads only one partition: never, always, or if this does not make a task too
   * long.
   */
  enum Grouping {
    NONE,
    ALWAYS,
    WHERE_FAIR
  }

  /** Returns this request with additional filters, which Spark found while the query ran. */
  ScanRequest with(List<Predicate> more) {
    List<Predicate> all = Stream.concat(filters.stream(), more.stream()).toList();
    return new ScanRequest(view, table, schema, all, limit, top);
  }

  /**
   * Returns the planner's plan.
   *
   * @param apart whether each task must read only one RowSet
   * @param inOrder whether the rows of each task should be in the order of the sort key
   * @param grouping whether each task must read only one partition
   */
  PlannedScan plan(boolean apart, boolean inOrder, Grouping grouping) {
    return Planner.call(
        new Scan(
            view,
            columns(),
            ExpressionTree.of(filters.toArray(Predicate[]::new)),
            limit,
            top,
            SparkSession.active().sparkContext().defaultParallelism(),
            apart,
            inOrder,
            grouping != Grouping.NONE,
            grouping == Grouping.WHERE_FAIR));
  }

  private List<String> columns() {
    return Arrays.stream(schema.fieldNames())
        .filter(List.of(table.fieldNames())::contains)
        .toList();
  }
}
