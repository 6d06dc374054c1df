package colonnade.spark.scan;

import colonnade.planner.Planner;
import colonnade.spark.table.ExpressionTree;
import colonnade.spark.table.TableAtEpoch;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.NullOrdering;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownTopN;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructType;

/**
 * Gathers what a query needs of a table. Spark trusts what is claimed here, so filters, limits and
 * orders only leave out data and are all applied again by Spark; aggregates are taken over where
 * the log knows their exact values, or where tasks can compute their shares.
 */
public final class ColonnadeScanBuilder
    implements SupportsPushDownRequiredColumns,
        SupportsPushDownV2Filters,
        SupportsPushDownAggregates,
        SupportsPushDownLimit,
        SupportsPushDownTopN {
  private final TableAtEpoch table;
  private final Map<String, Object> state;
  private final boolean filterLater;
  private StructType columns;
  private List<Predicate> filters = List.of();
  private Predicate[] useful = {};
  private boolean keepsAverages = true;
  private Scan aggregated;
  private Integer limit;
  private Map<String, Object> top;

  public ColonnadeScanBuilder(TableAtEpoch table) {
    this(table, true);
  }

  /** {@code filterLater}: Spark may filter the scan by what it finds while the query runs. */
  public ColonnadeScanBuilder(TableAtEpoch table, boolean filterLater) {
    this.table = table;
    this.filterLater = filterLater;
    this.state = table.state();
    this.columns = table.schema();
  }

  @Override
  public void pruneColumns(StructType required) {
    columns = required;
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    filters = List.of(predicates);
    Map<String, Object> args = new HashMap<>(state);
    args.put("filters", ExpressionTree.of(predicates));
    JsonNode used = Planner.call("filters", args).get("used");
    List<Predicate> found = new ArrayList<>();
    for (int i = 0; i < predicates.length; i++) {
      // Spark writes what is reported here into its log.
      if (used.get(i).asBoolean() && !ExpressionTree.holdsNullBytes(predicates[i])) {
        found.add(predicates[i]);
      }
    }
    useful = found.toArray(Predicate[]::new);
    return predicates;
  }

  @Override
  public Predicate[] pushedPredicates() {
    return useful;
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    keepsAverages &= PartialAggregation.keepsAverages(aggregation, table.schema());
    if (!takesAllRows()) {
      return false;
    }
    aggregated = AnsweredAggregation.of(table, aggregation).orElse(null);
    return aggregated != null;
  }

  /** Spark has asked for a complete one before. */
  @Override
  public boolean pushAggregation(Aggregation aggregation) {
    if (aggregated == null && takesAllRows() && keepsAverages) {
      aggregated = PartialAggregation.of(table, aggregation).orElse(null);
    }
    return aggregated != null;
  }

  @Override
  public boolean pushLimit(int rows) {
    if (!takesAllRows()) {
      return false;
    }
    limit = rows;
    return true;
  }

  @Override
  public boolean pushTopN(SortOrder[] orders, int rows) {
    if (!takesAllRows()
        || !(orders[0].expression() instanceof NamedReference reference)
        || reference.fieldNames().length != 1) {
      return false;
    }
    top =
        Map.of(
            "column", reference.fieldNames()[0],
            "descending", orders[0].direction() == SortDirection.DESCENDING,
            "nulls_first", orders[0].nullOrdering() == NullOrdering.NULLS_FIRST,
            "count", rows);
    return true;
  }

  @Override
  public boolean isPartiallyPushed() {
    return true;
  }

  /** What was offered to filter by. */
  public List<Map<String, Object>> filters() {
    return ExpressionTree.of(filters.toArray(Predicate[]::new));
  }

  /**
   * Whether what Spark asks for next applies to all rows of the table, because no filter comes
   * first.
   */
  private boolean takesAllRows() {
    return filters.isEmpty();
  }

  @Override
  public Scan build() {
    if (aggregated != null) {
      return aggregated;
    }
    ScanRequest request = new ScanRequest(state, table.schema(), columns, filters, limit, top);
    return new ColonnadeScan(request, description(), table.layout(), filterLater);
  }

  private String description() {
    StringBuilder text = new StringBuilder(table.describe());
    text.append(", columns ").append(columns.simpleString());
    if (useful.length > 0) {
      text.append(", filters ").append(Arrays.toString(useful));
    }
    if (limit != null) {
      text.append(", limit ").append(limit);
    }
    if (top != null) {
      text.append(", first ").append(top.get("count")).append(" by ").append(top.get("column"));
      text.append(top.get("descending").equals(true) ? " descending" : " ascending");
    }
    return text.toString();
  }
}
