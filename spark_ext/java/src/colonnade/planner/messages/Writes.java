package colonnade.planner.messages;

import java.util.List;
import java.util.Map;

/**
 * Requests of a write: a plan before the rows, a commit after them. {@code
 * planner/messages/writes.py} says what each field is.
 */
public final class Writes {
  private Writes() {}

  /** Check the options of a write, before anything else. */
  public record CheckWriteOptions(Map<String, String> options) implements Question<Replies.Done> {}

  /** Refuse {@code options} of a statement that creates a table without rows. */
  public record RefuseTableOptions(Map<String, String> options) implements Question<Replies.Done> {}

  /** The table that a stream writes to, and whether the batch of the request was committed before. */
  public record StreamTarget(
      @Nullable String database, @Nullable String table, boolean landed) {}

  /** Check what a stream writes, before its first batch and before each batch. */
  public record CheckStream(
      String path, Map<String, String> options, String mode, @Nullable StreamTarget known,
      @Nullable String query, Long number)
      implements Question<StreamTarget> {}

  /** Plan a write to the table at {@code path} of rows with the Spark schema {@code columns}. */
  public record PlanWrite(
      String path, String columns, Map<String, String> options, @Nullable Views.NamedView view,
      @Nullable Clauses.Design design, boolean overwrite, @Nullable List<Clauses.Tree> where,
      boolean dynamic, @Nullable String transaction, @Nullable List<String> filled,
      @Nullable Clauses.UserColumns userColumns, @Nullable Clauses.Layout layout, Long query)
      implements Question<PlannedJob> {}

  /**
   * A planned write: its {@code job} for the commit, and the {@code task} of each of Spark's
   * tasks, as JSON.
   */
  public record PlannedJob(
      String job, String task, boolean exact, boolean identified,
      List<Clauses.OrderField> ordering, List<Clauses.LayoutField> partitioning, String path,
      @Nullable String database) {}

  /** The epoch after a commit: the job's base if nothing was changed. */
  public record Committed(Long epoch, @Nullable String refused) {}

  /**
   * Commit the RowSets that the tasks of a {@code job} wrote in one epoch; {@code messages}
   * list them.
   */
  public record CommitWrite(
      String job, @Nullable String database, List<String> messages, @Nullable List<String> merged,
      Clauses.HistoryText history)
      implements Request<Committed> {}

  /**
   * The names of replaced columns, the {@code liveRowsets} of the tasks, and their {@code
   * reports}.
   */
  public record ReplacedColumns(
      List<String> names, List<String> liveRowsets, List<String> reports) {}

  /**
   * Commit the reports of a {@code job}'s tasks, in {@code messages}, as one statement of a
   * {@code kind}.
   */
  public record CommitRows(
      String job, @Nullable String database, String kind, List<String> messages,
      @Nullable List<Clauses.Tree> filters, @Nullable List<String> keys,
      @Nullable ReplacedColumns columns, Clauses.HistoryText history)
      implements Request<Committed> {}

  /**
   * Commit RowSets that the tasks of a {@code job} wrote in place of rows that the caller
   * found.
   */
  public record CommitOverwrite(
      String job, @Nullable String database, List<String> messages, List<String> overwritten,
      List<Clauses.Tree> filters)
      implements Request<Committed> {}

  /** Ask whether the rows that {@code filters} select can be deleted without being read. */
  public record CanDelete(
      Views.NamedView view, List<Clauses.Tree> filters, String countRows)
      implements Question<Replies.Answer> {}

  /**
   * Delete the rows of the table at {@code path} that {@code filters} select in a {@code view} of
   * it.
   */
  public record DeleteWhere(
      String path, Views.NamedView view, List<Clauses.Tree> filters, Map<String, String> options,
      Clauses.HistoryText history, String transaction)
      implements Request<Committed> {}

  /** Ask how Spark analyzes an append of rows for which the user gave the columns {@code names}. */
  public record ColumnsOfAppend(
      String path, Views.NamedView view, List<String> names, Map<String, String> options)
      implements Question<AnalyzedRows> {}

  /** Ask how Spark analyzes a MERGE that finds its rows by the primary key, without a join. */
  public record MergeByKey(
      String path, Views.NamedView view, List<String> keys, List<String> names, long bytes,
      @Nullable String most, Map<String, String> options)
      implements Question<AnalyzedRows> {}

  /**
   * What {@code PlanWrite} takes as {@code userColumns}, and the Spark schema in which other columns
   * are nullable.
   */
  public record AnalyzedRows(@Nullable Clauses.UserColumns userColumns, @Nullable String columns) {}

  /** Ask which column says when new rows expire, and the time to store in other rows. */
  public record ExpiringRows(
      String path, Views.NamedView view, Map<String, String> options)
      implements Question<Expiring> {}

  /** A column, and the time to store in it, in its unit. */
  public record Expiring(String column, long stored) {}

  /**
   * Take values of the identity column with the id {@code column}, for one task of a {@code
   * job}.
   */
  public record DrawIdentity(
      String job, long column, long count, @Nullable String beyond)
      implements Request<Drawn> {}

  /**
   * The {@code first} value and the {@code count}; each later value is one step of the column
   * further.
   */
  public record Drawn(String first, long count) {}

  /**
   * Remember the farthest value that the rows of a task of a {@code job} have in an identity
   * column.
   */
  public record RecordIdentity(
      String job, long column, String farthest)
      implements Request<Replies.Done> {}
}
