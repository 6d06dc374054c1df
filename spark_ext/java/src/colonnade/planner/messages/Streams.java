package colonnade.planner.messages;

import java.util.Map;

/**
 * Requests of a stream that reads a table. {@code planner/messages/streams.py} says what each field
 * is.
 */
public final class Streams {
  private Streams() {}

  /** The most RowSets ({@code files}), stored {@code bytes} and {@code rows} of a trigger. */
  public record Limits(Long files, Long bytes, Long rows) {}

  /** What a stream shows, and what stops it. */
  public record StreamRules(
      boolean changes, boolean updates, boolean ignoreDeletes, boolean ignoreChanges,
      boolean skipChanges, boolean failOnLoss, boolean failOnNewColumns) {}

  /** What a user asks of a stream; the {@code name} and the columns of its table. */
  public record AskedStream(
      String name, String tableSchema, @Nullable String start, StreamRules rules, Limits limits) {}

  /** Describe the stream of the table at {@code path} that {@code options} ask for. */
  public record LoadStream(String path, Map<String, String> options, Long query)
      implements Question<LoadedStream> {}

  /** A stream: its {@code columns}, and what a user asks of it. */
  public record LoadedStream(
      String path, Views.NamedView view, String columns, AskedStream stream) {}

  /** Say where a trigger ends that begins at {@code start}; null: the stream begins. */
  public record LatestOffset(
      Views.NamedView view, AskedStream stream, @Nullable String start, Limits limits,
      Long last)
      implements Question<FoundOffset> {}

  /** An {@code offset} in JSON, and the {@code newest} epoch. */
  public record FoundOffset(String offset, long newest) {}

  /** Plan the tasks between two offsets, and keep what the stream has not read. */
  public record PlanStream(
      Views.NamedView view, AskedStream stream, @Nullable String start, String end,
      long parallelism, String checkpoint)
      implements Request<Feed.PlannedChanges> {}

  /** Say how far the newest epoch is ahead of an {@code offset}. */
  public record StreamBacklog(Views.NamedView view, String offset)
      implements Question<FoundBacklog> {}

  /** How far a stream is behind. */
  public record FoundBacklog(Backlog backlog) {}

  /** What a stream has not read: epochs, stored bytes, and the seconds that they cover. */
  public record Backlog(long epochs, long bytes, long seconds) {}
}
