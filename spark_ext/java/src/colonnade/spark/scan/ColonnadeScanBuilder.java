package colonnade.spark.scan;

import colonnade.planner.Planner;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.planner.messages.Queries.Filters;
import colonnade.planner.messages.Queries.Top;
import colonnade.spark.table.ExpressionTree;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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
 * Collects what a query needs from a table. Spark relies on what this class reports as pushed down.
 * Filters, limits and orders therefore only reduce the data that is read, and Spark applies all of
 * them again. Aggregates are pushed down only if the log has their exact values or tasks can
 * compute partial results.
 */
public final class ColonnadeScanBuilder
    implements SupportsPushDownRequiredColumns,
        SupportsPushDownV2Filters,
        SupportsPushDownAggregates,
        SupportsPushDownLimit,
        SupportsPushDownTopN {
  private final TableAtEpoch table;
  private final boolean filterLater;
  private StructType columns;
  private List<Predicate> filters = List.of();
  private Predicate[] useful = {};
  private boolean keepsAverages = true;
  private Scan aggregated;
  private Long limit;
  private Top top;

  public ColonnadeScanBuilder(TableAtEpoch table) {
    this(table, true);
  }

  /**
   * Creates a builder. {@code filterLater} allows Spark to filter the scan by values that it finds
   * while the query runs.
   */
  public ColonnadeScanBuilder(TableAtEpoch table, boolean filterLater) {
    this.table = table;
    this.filterLater = filterLater;
    this.columns = table.schema();
  }

  @Override
  public void pruneColumns(StructType required) {
    columns = required;
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    filters = List.of(predicates);
    List<Boolean> used =
        Planner.call(new Filters(table.view(), ExpressionTree.of(predicates))).used();
    List<Predicate> found = new ArrayList<>();
    for (int i = 0; i < predicates.length; i++) {
      // Spark writes the reported predicates to its log as text. Spark 4.1 fails to do so for a
      // NULL of type binary.
      if (used.get(i) && !ExpressionTree.holdsNullBytes(predicates[i])) {
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

  /** Computes partial aggregates. Spark has already tried complete ones. */
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
    limit = (long) rows;
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
        new Top(
            reference.fieldNames()[0],
            orders[0].direction() == SortDirection.DESCENDING,
            orders[0].nullOrdering() == NullOrdering.NULLS_FIRST,
            rows);
    return true;
  }

  @Override
  public boolean isPartiallyPushed() {
    return true;
  }

  /** Returns all filters that Spark offered. */
  public List<Tree> filters() {
    return ExpressionTree.of(filters.toArray(Predicate[]::new));
  }

  /** Whether the next pushdown applies to all rows of the table, because no filter precedes it. */
  private boolean takesAllRows() {
    return filters.isEmpty();
  }

  @Override
  public Scan build() {
    if (aggregated != null) {
      return aggregated;
    }
    ScanRequest request = new ScanRequest(table.view(), table.schema(), columns, filters, limit, top);
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
      text.append(", first ").append(top.count()).append(" by ").append(top.column());
      text.append(top.descending() ? " descending" : " ascending");
    }
    return text.toString();
  }
}
