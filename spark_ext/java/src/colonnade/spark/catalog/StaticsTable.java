package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.spark.quirks.PlannedQuery;
import colonnade.spark.scan.ColonnadeScanBuilder;
import colonnade.spark.table.ReadOptions;
import colonnade.spark.table.TableAtEpoch;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The table {@code t.statics} about a table: one row for each partition key with static values,
 * also where no row of the table has that key. Statements change it through the table itself.
 */
final class StaticsTable extends TableAtEpoch implements SupportsRead {
  /** What its name has behind the name of the table. */
  static final String KIND = "statics";

  private StaticsTable(JsonNode loaded) {
    super(loaded, true, false, Map.of());
  }

  /** Loads the static values of the table at a path. The options are those of a table. */
  static StaticsTable load(String path, Map<String, String> options) {
    Map<String, Object> args = Map.of("path", path, "options", options, "about", KIND);
    return new StaticsTable(Planner.call("load", PlannedQuery.with(args)));
  }

  @Override
  public String name() {
    return path() + "." + KIND;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    Map<String, String> given = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    given.putAll(options.asCaseSensitiveMap());
    given.put("path", path());
    if (!ReadOptions.check(given).named().isEmpty()) {
      String sentence =
          "Metadata table " + name() + " is read at a version by VERSION AS OF or TIMESTAMP AS OF"
              + " alone; leave out the other options.";
      throw ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
    }
    return new ColonnadeScanBuilder(this);
  }

  /** Returns this table, which no statement writes. */
  @Override
  public TableAtEpoch forRows(Map<String, Object> rows, Map<String, String> options) {
    return this;
  }

  /** Returns this table, which no statement writes. */
  @Override
  public TableAtEpoch forGiven(List<String> names, Map<String, String> options) {
    return this;
  }

  /** Returns this table, which no statement writes. */
  @Override
  public TableAtEpoch forMerge(
      List<String> keys, List<String> names, long bytes, Map<String, String> options) {
    return this;
  }
}
