package colonnade.planner.messages;

import java.util.List;

/**
 * What names the view that a request reads. {@code planner/messages/views.py} says what each
 * field is.
 */
public final class Views {
  private Views() {}

  /** Rows for which a statement gives its table what it lacks. */
  public record RowsToWrite(
      @Nullable String columns, boolean byName, @Nullable List<Changes.Change> changes,
      boolean exact) {}

  /** The time of a step that decides by time ({@code manifests/clock.py}). */
  public record AgreedTime(long earliestMs, long presentMs) {}

  /**
   * The name of a view ({@code manifests/state/view.py}), of which any planner makes the view
   * again.
   */
  public record NamedView(
      String url, String options, String database, String table, long epoch, Long schemaEpoch,
      Long now, @Nullable AgreedTime agreed, Long valuesAt, @Nullable RowsToWrite evolving,
      @Nullable List<Long> rowsets, Long whole) {}
}
