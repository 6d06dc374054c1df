package colonnade.spark.streams;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Streams.LoadStream;
import colonnade.planner.messages.Streams.LoadedStream;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.table.SessionTime;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A table that is read as a stream. It has the columns that the table had when this was loaded, and
 * all of them may be NULL, because rows of other epochs may have NULL. With {@code readChangeFeed} it
 * has the columns of the changes, too.
 */
public final class StreamTable implements SupportsRead {
  /** The options of a stream that a table which is read once does not have. */
  public static final Set<String> OPTIONS =
      Set.of(
          "maxFilesPerTrigger",
          "maxBytesPerTrigger",
          "maxRowsPerTrigger",
          "failOnDataLoss",
          "failOnNewColumns");

  private final LoadedStream loaded;
  private final StructType schema;

  private StreamTable(LoadedStream loaded) {
    this.loaded = loaded;
    // Rows have strings for CHAR and VARCHAR.
    this.schema =
        CharVarcharUtils.replaceCharVarcharWithStringInSchema(
            (StructType) DataType.fromJson(loaded.columns()));
  }

  /** Loads the stream of the table at {@code path}. {@code options} are those of the stream. */
  public static StreamTable load(String path, Map<String, String> options) {
    Map<String, String> stated = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    stated.putAll(options);
    stated.remove("path");
    SessionTime.toUtc(stated, "startingTimestamp");
    return new StreamTable(Planner.call(new LoadStream(path, stated, PlannedQuery.number())));
  }

  @Override
  public String name() {
    return loaded.path();
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return schema;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.MICRO_BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return () -> new StreamScan(loaded, schema);
  }

  /**
   * Returns the batches of this stream for a query that has found some columns already.
   *
   * @param columns all columns that the query has found
   * @param readSchema those that it wants
   */
  public MicroBatchStream batches(StructType columns, StructType readSchema, String checkpoint) {
    if (!columns.equals(schema)) {
      throw ColonnadeException.invalid(
          "Table %s has other columns than Spark has found; start the stream again.", name());
    }
    return new TableStream(loaded, columns, readSchema, checkpoint);
  }

  /** What Spark shows in plans and in some errors. */
  @Override
  public String toString() {
    return name();
  }
}
