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
 * What one use of a table in a query asks for; equal requests have the same rows.
 *
 * @param state database, table and epoch
 * @param table the columns of the table itself
 * @param schema the columns to read, those that tables offer beside their own among them
 * @param filters what Spark will filter by, all that was offered
 * @param limit rows that are enough, or null
 * @param top the order of the rows that are enough, with their number, or null
 */
record ScanRequest(
    Map<String, Object> state,
    StructType table,
    StructType schema,
    List<Predicate> filters,
    Integer limit,
    Map<String, Object> top) {

  /** Whether tasks keep to one partition: not, always, or where that makes none of them long. */
  enum Grouping {
    NONE,
    ALWAYS,
    WHERE_FAIR
  }

  /** Returns the request with more filters, which Spark found while the query ran. */
  ScanRequest with(List<Predicate> more) {
    List<Predicate> all = Stream.concat(filters.stream(), more.stream()).toList();
    return new ScanRequest(state, table, schema, all, limit, top);
  }

  /**
   * The planner's plan.
   *
   * @param apart no task may read two RowSets
   * @param grouping whether no task may read two partitions
   */
  JsonNode plan(boolean apart, Grouping grouping) {
    Map<String, Object> args = new HashMap<>(state);
    args.put("columns", columns());
    args.put("filters", ExpressionTree.of(filters.toArray(Predicate[]::new)));
    args.put("limit", limit);
    args.put("top", top);
    args.put("parallelism", SparkSession.active().sparkContext().defaultParallelism());
    args.put("apart", apart);
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
