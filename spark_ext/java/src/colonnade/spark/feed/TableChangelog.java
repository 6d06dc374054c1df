package colonnade.spark.feed;

import colonnade.spark.streams.StreamTable;
import colonnade.spark.table.SessionTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.ChangelogContext.DeduplicationMode;
import org.apache.spark.sql.connector.catalog.ChangelogRange;
import org.apache.spark.sql.connector.catalog.ChangelogRange.TimestampRange;
import org.apache.spark.sql.connector.catalog.ChangelogRange.UnboundedRange;
import org.apache.spark.sql.connector.catalog.ChangelogRange.VersionRange;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The changes of a table for {@code t CHANGES FROM VERSION …} and {@code spark.read.changes(t)} of
 * Spark 4.2 and later. They come without rows that did not change, with both images of updates, and
 * net if that was asked. So Spark has nothing to compute, and pushes every filter down.
 *
 * <p>Spark 4.1 lacks the interface: only code that a later version calls may name this class.
 */
public final class TableChangelog implements Changelog {
  /** The bounds of a range, which Spark says in the context, too. */
  private static final List<String> BOUNDS =
      List.of(
          ChangesOptions.FIRST_VERSION,
          ChangesOptions.LAST_VERSION,
          ChangesOptions.FIRST_TIME,
          ChangesOptions.LAST_TIME);

  private final ChangesTable table;
  private final ChangesStream stream;

  private TableChangelog(ChangesTable table, ChangesStream stream) {
    this.table = table;
    this.stream = stream;
  }

  /**
   * Returns the changes of the table at {@code path}.
   *
   * @param options those of the read: what else counts as a change, and those of the store; or
   *     those of a stream
   */
  public static Changelog load(
      String path, ChangelogContext context, CaseInsensitiveStringMap options) {
    Map<String, String> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    given.putAll(options.asCaseSensitiveMap());
    BOUNDS.forEach(given::remove);
    ChangelogRange range = context.range();
    addBounds(range, given);
    given.put("computeUpdates", Boolean.toString(context.computeUpdates()));
    boolean net = context.deduplicationMode() == DeduplicationMode.NET_CHANGES;
    Map<String, String> ofStream = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    ofStream.putAll(given);
    ChangesStream stream = new ChangesStream(path, ofStream, !net && isEndless(range, given));
    StreamTable.OPTIONS.forEach(given::remove);
    if (!(range instanceof UnboundedRange)) {
      given.put("startingBoundInclusive", Boolean.toString(range.startingBoundInclusive()));
      given.put("endingBoundInclusive", Boolean.toString(range.endingBoundInclusive()));
    }
    given.put("deduplicationMode", net ? "netChanges" : "none");
    return new TableChangelog(ChangesTable.load(path, given), stream);
  }

  /** Whether a range is one of a stream: it has no end, and its first epoch belongs to it. */
  private static boolean isEndless(ChangelogRange range, Map<String, String> bounds) {
    boolean ends =
        bounds.containsKey(ChangesOptions.LAST_VERSION)
            || bounds.containsKey(ChangesOptions.LAST_TIME);
    return !ends && (range instanceof UnboundedRange || range.startingBoundInclusive());
  }

  /** Adds the bounds of a range. One without bounds is that of a stream. */
  private static void addBounds(ChangelogRange range, Map<String, String> asked) {
    if (range instanceof VersionRange versions) {
      asked.put(ChangesOptions.FIRST_VERSION, versions.startingVersion());
      versions.endingVersion().ifPresent(end -> asked.put(ChangesOptions.LAST_VERSION, end));
    } else if (range instanceof TimestampRange times) {
      asked.put(ChangesOptions.FIRST_TIME, SessionTime.utc(times.startingTimestamp()));
      times
          .endingTimestamp()
          .ifPresent(end -> asked.put(ChangesOptions.LAST_TIME, SessionTime.utc(end)));
    }
  }

  @Override
  public String name() {
    return table.name();
  }

  @Override
  public Column[] columns() {
    return table.columns();
  }

  @Override
  public boolean containsCarryoverRows() {
    return false;
  }

  @Override
  public boolean containsIntermediateChanges() {
    return false;
  }

  @Override
  public boolean representsUpdateAsDeleteAndInsert() {
    return false;
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    // Spark 4.3 tells the options of a stream here alone.
    return table.scanBuilder(stream.with(options));
  }

  /** Whether both are the same changes of one table. */
  @Override
  public boolean equals(Object other) {
    return other instanceof TableChangelog changelog && table.equals(changelog.table);
  }

  @Override
  public int hashCode() {
    return table.hashCode();
  }
}
