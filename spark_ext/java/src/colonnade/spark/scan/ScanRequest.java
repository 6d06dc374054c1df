package colonnade.spark.scan;

import colonnade.planner.Planner;
import colonnade.spark.table.ExpressionTree;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.StructType;

/**
 * The request of one use of a table in a query. Equal requests read the same rows.
 *
 * @param state the database, table and epoch
 * @param table the columns of the table itself
 * @param schema the columns to read, which may include metadata columns
 * @param filters all filters that Spark offered and will apply itself
 * @param limit the number of rows that suffice, or null
 * @param top the order and the number of the rows that suffice, or null
 */
record ScanRequest(
    Map<String, Object> state,
    StructType table,
    StructType schema,
    List<Predicate> filters,
    Integer limit,
    Map<String, Object> top) {

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
    return new ScanRequest(state, table, schema, all, limit, top);
  }

  /**
   * Returns the planner's plan.
   *
   * @param apart whether each task must read only one RowSet
   * @param inOrder whether the rows of each task should be in the order of the sort key
   * @param grouping whether each task must read only one partition
   */
  JsonNode plan(boolean apart, boolean inOrder, Grouping grouping) {
    Map<String, Object> args = new HashMap<>(state);
    args.put("columns", columns());
    args.put("filters", ExpressionTree.of(filters.toArray(Predicate[]::new)));
    args.put("limit", limit);
    args.put("top", top);
    args.put("parallelism", SparkSession.active().sparkContext().defaultParallelism());
    args.put("apart", apart);
    args.put("in_order", inOrder);
    args.put("grouped", grouping != Grouping.NONE);
    args.put("fair", grouping == Grouping.WHERE_FAIR);
    return Planner.call("scan", args);
  }

  private List<String> columns() {
    return Arrays.stream(schema.fieldNames())
        .filter(List.of(table.fieldNames())::contains)
        .toList();
  }
}
