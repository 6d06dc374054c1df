package colonnade.spark.feed;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Feed.LoadChanges;
import colonnade.planner.messages.Feed.LoadedChanges;
import colonnade.spark.quirks.statement.PlannedQuery;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The changes of a table: its columns, and those of the feed. The newest epoch is that of the time
 * when this was loaded.
 */
public final class ChangesTable implements SupportsRead {
  private final Map<String, String> options;
  private final LoadedChanges loaded;
  private final StructType schema;

  private ChangesTable(Map<String, String> options, LoadedChanges loaded) {
    this.options = options;
    this.loaded = loaded;
    this.schema = (StructType) DataType.fromJson(loaded.columns());
  }

  /**
   * Loads the changes of the table at {@code path}. {@code options} are those of a read: the range,
   * what counts as a change, and those of the store.
   */
  public static ChangesTable load(String path, Map<String, String> options) {
    Map<String, String> stated = ChangesOptions.of(options);
    LoadChanges request = new LoadChanges(path, stated, PlannedQuery.number());
    return new ChangesTable(stated, Planner.call(request));
  }

  @Override
  public String name() {
    return loaded.path() + ".changes";
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap given) {
    Map<String, String> others = ChangesOptions.of(given.asCaseSensitiveMap());
    // What this was loaded with came from the very same options.
    return others.isEmpty() || others.equals(options) ? scanBuilder() : with(others).scanBuilder();
  }

  /** Returns a builder of scans of these changes. */
  ScanBuilder scanBuilder() {
    return scanBuilder(null);
  }

  /** Returns a builder of scans of these changes, which may be read as a stream; null: they may not. */
  ScanBuilder scanBuilder(ChangesStream stream) {
    StructType read = CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema);
    return new ChangesScanBuilder(loaded, read, stream);
  }

  /** Returns the changes that the options of one use of this table ask for. */
  private ChangesTable with(Map<String, String> others) {
    ChangesTable other = load(loaded.path(), others);
    if (!other.schema.equals(schema)) {
      throw ColonnadeException.invalid(
          "The options of a read give %s other columns than Spark has found; load the table by its"
              + " path with the option readChangeFeed.",
          name());
    }
    return other;
  }

  /** Whether both are the same changes of one table: Spark keeps the old one of two equals. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ChangesTable table && loaded.equals(table.loaded);
  }

  @Override
  public int hashCode() {
    return loaded.hashCode();
  }

  /** What Spark shows in plans and in some errors. */
  @Override
  public String toString() {
    return name();
  }
}
