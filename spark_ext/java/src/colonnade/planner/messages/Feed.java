package colonnade.planner.messages;

import java.util.List;
import java.util.Map;

/**
 * Requests of a query that reads the changes of a table. {@code planner/messages/feed.py} says what
 * each field is.
 */
public final class Feed {
  private Feed() {}

  /** Describe the changes of the table at {@code path} that {@code options} ask for. */
  public record LoadChanges(String path, Map<String, String> options, Long query)
      implements Question<LoadedChanges> {}

  /** The changes of a table: its {@code columns} with those of the feed, and which are read. */
  public record LoadedChanges(
      String path, String name, Views.NamedView view, String columns, AskedChanges changes) {}

  /** Which changes a reader asks for: a range, and what counts as a change. */
  public record AskedChanges(
      @Nullable String start, @Nullable String end, String inclusive, boolean net,
      boolean updates, List<String> also, boolean allowFuture, @Nullable String consumer,
      @Nullable String transaction) {}

  /** Plan a read of changes with some columns of the table for about {@code parallelism} tasks. */
  public record ScanChanges(
      Views.NamedView view, AskedChanges changes, List<String> columns, List<Clauses.Tree> filters,
      long parallelism)
      implements Question<PlannedChanges> {}

  /** Move the consumer that changes are read for, because a query reads them. */
  public record MoveConsumer(Views.NamedView view, AskedChanges changes)
      implements Question<Replies.Done> {}

  /** The {@code tasks} as JSON, and what they read: {@code rows}, and stored {@code bytes}. */
  public record PlannedChanges(List<String> tasks, long rows, long bytes) {}
}
