package colonnade.planner.messages;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;

/**
 * The changes of an ALTER TABLE, one by one. A {@code column} is the path of a column or of a
 * field. {@code planner/messages/changes.py} says what each field is.
 */
public final class Changes {
  private Changes() {}

  /** One change. */
  public sealed interface Change {
    /** Which change it is: the name of its class, as in all messages. */
    @JsonProperty
    default String kind() {
      return MessageJson.nameOf(getClass());
    }
  }

  /**
   * Add a column of a Spark type as JSON; {@code after} another one or {@code first}, else at
   * the end.
   */
  public record AddColumn(
      List<String> column, String type, boolean nullable, @Nullable String comment,
      @Nullable Clauses.Default defaultValue, @Nullable String after, boolean first)
      implements Change {}

  /** Rename a column. */
  public record RenameColumn(List<String> column, String name) implements Change {}

  /** Drop a column. */
  public record DropColumn(List<String> column, boolean ifExists) implements Change {}

  /** Comment a column; null removes its comment. */
  public record CommentColumn(List<String> column, @Nullable String comment) implements Change {}

  /** Give a column a wider Spark type. */
  public record WidenColumn(List<String> column, String type) implements Change {}

  /** Set the default of a column; null drops it. */
  public record SetDefault(
      List<String> column, @Nullable Clauses.Default defaultValue)
      implements Change {}

  /** Say whether a column may have NULL. */
  public record SetNullable(List<String> column, boolean nullable) implements Change {}

  /** Move a column {@code after} another one, or to be the {@code first}. */
  public record MoveColumn(
      List<String> column, @Nullable String after, boolean first)
      implements Change {}

  /**
   * Add a CHECK constraint, which all rows met at an {@code epoch}, and the columns that it
   * reads.
   */
  public record AddConstraint(
      String name, String condition, List<String> columns, long epoch)
      implements Change {}

  /** Drop a constraint. */
  public record DropConstraint(String name, boolean ifExists) implements Change {}

  /** Set properties, and remove others. */
  public record SetProperties(Map<String, String> set, List<String> remove) implements Change {}

  /** Sort new rows by the columns at these paths. */
  public record ClusterBy(List<List<String>> columns) implements Change {}

  /** Comment a table; null removes its comment. */
  public record CommentTable(@Nullable String comment) implements Change {}
}
