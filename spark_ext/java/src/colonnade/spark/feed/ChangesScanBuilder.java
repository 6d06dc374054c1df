package colonnade.spark.feed;

import colonnade.planner.messages.Feed.LoadedChanges;
import colonnade.spark.table.ExpressionTree;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Collects what a query needs of the changes of a table. Filters only reduce the data that is read,
 * and Spark applies all of them again.
 */
final class ChangesScanBuilder
    implements SupportsPushDownRequiredColumns, SupportsPushDownV2Filters {
  private final LoadedChanges loaded;
  private final StructType feed;
  private final ChangesStream stream;
  private StructType columns;
  private List<Predicate> filters = List.of();

  /** Creates a builder for changes that have the columns {@code feed}. */
  ChangesScanBuilder(LoadedChanges loaded, StructType feed, ChangesStream stream) {
    this.loaded = loaded;
    this.feed = feed;
    this.stream = stream;
    this.columns = feed;
  }

  /** Keeps whole columns, because an update counts if any part of a column has changed. */
  @Override
  public void pruneColumns(StructType required) {
    columns =
        new StructType(
            Arrays.stream(required.fieldNames()).map(feed::apply).toArray(StructField[]::new));
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    filters = List.of(predicates);
    return predicates;
  }

  /** Without those that Spark 4.1 fails to write to its log: a NULL of type binary. */
  @Override
  public Predicate[] pushedPredicates() {
    return filters.stream()
        .filter(each -> !ExpressionTree.holdsNullBytes(each))
        .toArray(Predicate[]::new);
  }

  @Override
  public Scan build() {
    String text = "columns " + columns.simpleString();
    Predicate[] shown = pushedPredicates();
    return new ChangesScan(
        new ChangesRequest(loaded, feed, columns, filters),
        shown.length == 0 ? text : text + ", filters " + Arrays.toString(shown),
        stream);
  }
}
