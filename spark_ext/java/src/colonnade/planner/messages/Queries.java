package colonnade.planner.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * Requests of a query: describe a table, plan the tasks of a query, answer from the log. {@code
 * planner/messages/queries.py} says what each field is.
 */
public final class Queries {
  private Queries() {}

  /**
   * Describe the table at {@code path} at the epoch, tag or time in {@code options}, or its
   * newest state.
   */
  public record Load(
      String path, Map<String, String> options, boolean statics, Long query)
      implements Question<LoadedTable> {}

  /** A table, and the {@code view} that later requests return, at the time of the query. */
  public record LoadedTable(
      String path, String name, Views.NamedView view, @Nullable String seenAt, boolean pinned,
      String columns, Map<String, String> defaults,
      Map<String, Clauses.Identity> identities, List<Clauses.Generated> generated,
      List<String> statics, List<String> partitionKey, Map<String, String> properties,
      @Nullable String comment, List<Clauses.OrderField> sortKey,
      List<Clauses.LayoutField> partitioning, List<Clauses.Constraint> constraints) {}

  /** Parse the options of a read, and refuse wrong ones before any table is opened. */
  public record CheckOptions(Map<String, String> options) implements Question<StatedRead> {}

  /** What the options of a read name: an epoch, tag or time ({@code pinned}), and which others. */
  public record StatedRead(
      String path, boolean pinned, Long schemaEpoch, @Nullable String seenAt) {}

  /** Say which of {@code filters} can skip data. */
  public record Filters(
      Views.NamedView view, List<Clauses.Tree> filters)
      implements Question<UsedFilters> {}

  /** Whether each filter can skip data. */
  public record UsedFilters(List<Boolean> used) {}

  /** An order by one column, and the number of the first rows that suffice. */
  public record Top(String column, boolean descending, boolean nullsFirst, long count) {}

  /** Plan a read of {@code columns} for about {@code parallelism} tasks at once. */
  public record Scan(
      Views.NamedView view, List<String> columns, List<Clauses.Tree> filters, Long limit,
      @Nullable Top top, long parallelism, boolean apart, boolean inOrder, boolean grouped,
      boolean fair)
      implements Question<PlannedScan> {}

  /** Bounds and the number of NULLs of a column, which only estimate. */
  public record ColumnSummary(@Nullable String min, @Nullable String max, long nulls) {}

  /**
   * The {@code tasks} of a scan as JSON, and what it reads: {@code rows}, stored {@code bytes},
   * {@code columns} by name.
   */
  public record PlannedScan(
      List<String> tasks, @Nullable String statics, long rows, long bytes, long rowsets,
      Map<String, ColumnSummary> columns, List<Clauses.OrderField> orderedBy,
      boolean inOrder, boolean merges, List<Clauses.LayoutField> partitioning,
      List<List<String>> partitions) {}

  /** Return the partitions of the table's current layout that have rows. */
  public record ListPartitions(Views.NamedView view) implements Question<Partitions> {}

  /** The values of partitions, as bounds ({@code manifests/model/statistics.py}). */
  public record Partitions(List<List<String>> partitions) {}

  /** An aggregate of a whole table; a {@code count} without a column is count(*). */
  public record AggregateCall(String function, @Nullable String column) {}

  /** Compute {@code functions} over the whole table from the log. */
  public record Aggregate(
      Views.NamedView view, List<AggregateCall> functions)
      implements Question<Aggregated> {}

  /** The values of aggregates: counts, bounds as text, or null for NULL. */
  public record Aggregated(@Nullable List<JsonNode> values) {}

  /** Return the metadata table {@code name} of the table at {@code path}. */
  public record Metadata(String path, String name) implements Question<MetadataRows> {}

  /** A metadata table: columns in DDL, and rows of Spark's internal values. */
  public record MetadataRows(String columns, JsonNode rows) {}

  /** Return the names of all metadata tables. */
  public record MetadataNames() implements Question<Replies.Names> {}
}
