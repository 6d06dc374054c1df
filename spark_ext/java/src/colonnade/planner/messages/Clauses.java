package colonnade.planner.messages;

import java.util.List;
import java.util.Map;

/**
 * Parts of several messages: conditions, columns, layouts, and what a statement says. {@code
 * planner/messages/clauses.py} says what each field is.
 */
public final class Clauses {
  private Clauses() {}

  /**
   * An expression of Spark: an operation {@code op} on {@code args}, a {@code column}, or a
   * value of a {@code type}.
   */
  public record Tree(
      @Nullable String op, @Nullable List<Tree> args, @Nullable List<String> column,
      @Nullable String type, @Nullable String value) {}

  /** The default of a column: SQL text, and its value now; null for a value without a literal. */
  public record Default(String sql, @Nullable Tree now) {}

  /** A field of a sort key or of an order of rows. */
  public record OrderField(String column, boolean descending) {}

  /** A field of a partition layout, such as bucket(16, id). */
  public record LayoutField(String transform, List<String> column, Long argument) {}

  /**
   * Partitions and sort key of a new table; {@code cluster_by} has the paths of the key's
   * columns.
   */
  public record Layout(List<LayoutField> partitioning, List<List<String>> clusterBy) {}

  /** A CHECK constraint, and the columns that the condition of a new one reads. */
  public record Constraint(String name, String condition, List<String> columns) {}

  /** What an identity column states. */
  public record Identity(String start, String step, boolean always) {}

  /** A generated column, the columns that it reads, and the time zone of its expression. */
  public record Generated(String column, String sql, List<String> reads, String timeZone) {}

  /** The columns that a user gave the rows of an append, where the rows merge by their keys. */
  public record UserColumns(
      @Nullable List<String> columns, boolean checked, @Nullable List<String> keys) {}

  /** A clause of a MERGE, for the history: what it does, and if and how. */
  public record Clause(String action, @Nullable String predicate, @Nullable String set) {}

  /** What a statement says, for the history: its condition, and its assignments or clauses. */
  public record HistoryText(
      @Nullable String where, @Nullable String on, @Nullable String set,
      List<Clause> matched, List<Clause> notMatched,
      List<Clause> notMatchedBySource) {}

  /** A table that a statement creates, from the columns of its Spark {@code schema}. */
  public record Design(
      String columns, Layout layout, List<Constraint> constraints,
      Map<String, String> properties, @Nullable String comment,
      Map<String, Default> defaults, Map<String, Identity> identities,
      List<Generated> generated, boolean replace, boolean anyCase) {}
}
