package colonnade.spark.feed;

import colonnade.planner.Planner;
import colonnade.planner.messages.Feed.LoadedChanges;
import colonnade.planner.messages.Feed.MoveConsumer;
import colonnade.planner.messages.Feed.PlannedChanges;
import colonnade.planner.messages.Feed.ScanChanges;
import colonnade.spark.table.ExpressionTree;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.StructType;

/**
 * The request of one use of the changes of a table in a query. Equal requests read the same rows.
 *
 * @param loaded names the table, and says which of its changes are read
 * @param feed all columns of the feed
 * @param schema the columns to read, each as {@code feed} has it
 * @param filters all filters that Spark offered and will apply itself
 */
record ChangesRequest(
    LoadedChanges loaded, StructType feed, StructType schema, List<Predicate> filters) {
  /** The columns that a feed has beside those of its table. */
  private static final List<String> OWN =
      List.of("_change_type", "_commit_version", "_commit_timestamp", "_row_handler");

  /** Returns the planner's plan. */
  PlannedChanges plan() {
    return Planner.call(
        new ScanChanges(
            loaded.view(),
            loaded.changes(),
            Arrays.stream(schema.fieldNames()).filter(name -> !OWN.contains(name)).toList(),
            ExpressionTree.of(filters.toArray(Predicate[]::new)),
            SparkSession.active().sparkContext().defaultParallelism()));
  }

  /** Moves the consumer that the changes are read for, if there is one. */
  void moveConsumer() {
    if (loaded.changes().consumer() != null) {
      Planner.call(new MoveConsumer(loaded.view(), loaded.changes()));
    }
  }
}
