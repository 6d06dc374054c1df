package colonnade.spark.feed;

import colonnade.planner.ColonnadeException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.ChangelogContext.DeduplicationMode;
import org.apache.spark.sql.connector.catalog.ChangelogRange;
import org.apache.spark.sql.connector.catalog.ChangelogRange.TimestampRange;
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

  private TableChangelog(ChangesTable table) {
    this.table = table;
  }

  /**
   * Returns the changes of the table at {@code path}.
   *
   * @param options those of the read: what else counts as a change, and those of the store
   */
  public static Changelog load(
      String path, ChangelogContext context, CaseInsensitiveStringMap options) {
    Map<String, String> asked = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    asked.putAll(options.asCaseSensitiveMap());
    BOUNDS.forEach(asked::remove);
    ChangelogRange range = context.range();
    addBounds(range, path, asked);
    asked.put("startingBoundInclusive", Boolean.toString(range.startingBoundInclusive()));
    asked.put("endingBoundInclusive", Boolean.toString(range.endingBoundInclusive()));
    boolean net = context.deduplicationMode() == DeduplicationMode.NET_CHANGES;
    asked.put("deduplicationMode", net ? "netChanges" : "none");
    asked.put("computeUpdates", Boolean.toString(context.computeUpdates()));
    return new TableChangelog(ChangesTable.load(path, asked));
  }

  private static void addBounds(ChangelogRange range, String path, Map<String, String> asked) {
    if (range instanceof VersionRange versions) {
      asked.put(ChangesOptions.FIRST_VERSION, versions.startingVersion());
      versions.endingVersion().ifPresent(end -> asked.put(ChangesOptions.LAST_VERSION, end));
    } else if (range instanceof TimestampRange times) {
      asked.put(ChangesOptions.FIRST_TIME, ChangesOptions.time(times.startingTimestamp()));
      times
          .endingTimestamp()
          .ifPresent(end -> asked.put(ChangesOptions.LAST_TIME, ChangesOptions.time(end)));
    } else {
      throw ColonnadeException.invalid(
          "The changes of table %s need a start, as in CHANGES FROM VERSION 0, or the option"
              + " startingVersion; 0 is the epoch that created the table.",
          path);
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
    return table.scanBuilder();
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
