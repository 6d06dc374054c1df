package colonnade.spark.table;

import colonnade.planner.Planner;
import colonnade.planner.messages.Queries.CheckOptions;
import colonnade.planner.messages.Queries.LoadedTable;
import colonnade.planner.messages.Queries.StatedRead;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The options of a read, as the planner understands them.
 *
 * @param pinned whether they name an epoch or a time
 * @param schemaEpoch whether they name the epoch of the columns
 * @param seenAt whether they name the time at which the table is seen
 */
public record ReadOptions(String path, boolean pinned, boolean schemaEpoch, boolean seenAt) {
  /** The option that names the epoch whose columns a read has. */
  private static final String SCHEMA_EPOCH = "schemaEpoch";

  /** The option that names the time at which a read sees the table. */
  private static final String SEEN_AT = "seenAt";

  private static final Set<String> STATE =
      Set.of("epoch", "versionAsOf", "timestampAsOf", SCHEMA_EPOCH, SEEN_AT);

  /** The prefix of options for the store of the table. */
  private static final String STORAGE = "storage.";

  /** Reads the options; refuses unknown ones and those that contradict each other. */
  public static ReadOptions check(Map<String, String> options) {
    String path = options.get("path");
    if (options.size() == 1 && path != null && !path.isEmpty()) {
      return new ReadOptions(path, false, false, false);
    }
    StatedRead found = Planner.call(new CheckOptions(options));
    return new ReadOptions(
        found.path(), found.pinned(), found.schemaEpoch() != null, found.seenAt() != null);
  }

  /** Whether a table that was loaded was loaded with all that these options name. */
  public boolean areOf(LoadedTable loaded) {
    return (!pinned || loaded.pinned())
        && (!schemaEpoch || loaded.view().schemaEpoch() != null)
        && (!seenAt || loaded.seenAt() != null);
  }

  /** Returns whether options decide the columns of a table, and Spark does not tell a catalog. */
  public static boolean statesColumns(Map<String, String> options) {
    return options.keySet().stream()
        .anyMatch(each -> each.equalsIgnoreCase("epoch") || each.equalsIgnoreCase(SCHEMA_EPOCH));
  }

  /**
   * Returns the options of the store of a table, which hold secrets, the epoch of its columns, and
   * the time at which it is seen. Spark passes on none of them.
   */
  public static Map<String, String> unsaid(Map<String, String> options) {
    Map<String, String> found = ofStore(options);
    options.forEach(
        (name, value) -> {
          if (name.equalsIgnoreCase(SCHEMA_EPOCH) || name.equalsIgnoreCase(SEEN_AT)) {
            found.put(name, value);
          }
        });
    return found;
  }

  /** Returns the options of the store of a table. They hold secrets. */
  public static Map<String, String> ofStore(Map<String, String> options) {
    Map<String, String> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    options.forEach(
        (name, value) -> {
          if (name.regionMatches(true, 0, STORAGE, 0, STORAGE.length())) {
            found.put(name, value);
          }
        });
    return found;
  }

  /** Returns the options that loading a table needs: an epoch or a time, and those of its store. */
  public static Map<String, String> namingState(Map<String, String> options) {
    Map<String, String> found = ofStore(options);
    options.forEach(
        (name, value) -> {
          if (STATE.stream().anyMatch(name::equalsIgnoreCase)) {
            found.put(name, value);
          }
        });
    return found;
  }
}
