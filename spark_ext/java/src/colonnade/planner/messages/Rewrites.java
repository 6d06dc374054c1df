package colonnade.planner.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * Requests about columns whose values Spark writes anew beside the rows that have them. {@code
 * planner/messages/rewrites.py} says what each field is.
 */
public final class Rewrites {
  private Rewrites() {}

  /** An UPDATE or MERGE whose columns may be replaced. */
  public record Update(
      String job, Views.NamedView view, boolean counted, List<String> columns, long reads,
      @Nullable List<Clauses.Tree> filters, @Nullable String least) {}

  /** Ask for the ids of the RowSets whose changed rows are to be counted. */
  public record UpdatedRowsets(Update update) implements Question<RowSetIds> {}

  /** Ids of RowSets. */
  public record RowSetIds(List<Long> rowsets) {}

  /** Choose the RowSets in which to replace columns. */
  public record ChooseColumns(
      Update update, @Nullable Map<Long, Long> counts)
      implements Question<ChosenColumns> {}

  /** A RowSet whose columns a task writes: its id, and what the task needs of it as JSON. */
  public record AskedRowSet(long id, String task) {}

  /** The {@code task} of each of Spark's tasks, and the RowSets in which they replace columns. */
  public record ChosenColumns(
      @Nullable String task, List<String> liveRowsets, List<AskedRowSet> rowsets,
      List<Long> others) {}

  /** Plan to fill {@code column} of the table at {@code path}, from the columns {@code reads}. */
  public record PlanFill(
      String path, Views.NamedView view, String column, List<String> reads, @Nullable String added,
      @Nullable String where)
      implements Request<PlannedFill> {}

  /**
   * RowSets at an {@code epoch} that have no values yet, and what the commit needs of them
   * ({@code liveRowsets}).
   */
  public record FillRound(long epoch, List<String> liveRowsets, List<AskedRowSet> rowsets) {}

  /** The job of a fill, the {@code task} of each of Spark's tasks, and the first round. */
  public record PlannedFill(String fill, String task, FillRound first) {}

  /**
   * Commit the {@code reports} of tasks on the {@code liveRowsets}; or ask for further
   * RowSets.
   */
  public record CommitFill(
      String fill, String database, List<String> liveRowsets, List<String> reports)
      implements OneTimeRequest<Filled> {}

  /** The result {@code rows} of the procedure, or the next round, when nothing was committed. */
  public record Filled(JsonNode rows, @Nullable FillRound next) {}
}
