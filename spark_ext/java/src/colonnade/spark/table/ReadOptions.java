package colonnade.spark.table;

import colonnade.planner.Planner;
import colonnade.planner.messages.Queries.CheckOptions;
import colonnade.planner.messages.Queries.LoadedTable;
import colonnade.planner.messages.Queries.StatedRead;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The options of a read. */
public final class ReadOptions {
  /** The option that names the epoch whose columns a read has. */
  private static final String SCHEMA_EPOCH = "schemaEpoch";

  /** The option that names the time at which a read sees the table. */
  private static final String SEEN_AT = "seenAt";

  private static final Set<String> STATE =
      Set.of("epoch", "versionAsOf", "timestampAsOf", SCHEMA_EPOCH, SEEN_AT);

  /** The option that asks for the changes of a table, and not for its rows. */
  private static final String CHANGES = "readChangeFeed";

  /** The prefix of options for the store of the table. */
  private static final String STORAGE = "storage.";

  private ReadOptions() {}

  /** Reads options; refuses unknown ones and those that contradict each other. */
  public static StatedRead check(Map<String, String> options) {
    String path = options.get("path");
    return options.size() == 1 && path != null && !path.isEmpty()
        ? new StatedRead(path, false, null, null)
        : Planner.call(new CheckOptions(options));
  }

  /** Whether a table that was loaded was loaded with all that options name. Refuses as above. */
  public static boolean areOf(LoadedTable loaded, Map<String, String> options) {
    StatedRead found = check(options);
    return (!found.pinned() || loaded.pinned())
        && (found.schemaEpoch() == null || loaded.view().schemaEpoch() != null)
        && (found.seenAt() == null || loaded.seenAt() != null);
  }

  /**
   * Returns whether options ask for the changes of a table. Only {@code false} asks for its rows:
   * the planner refuses any other value.
   */
  public static boolean asksForChanges(Map<String, String> options) {
    return options.entrySet().stream()
        .filter(each -> each.getKey().equalsIgnoreCase(CHANGES))
        .anyMatch(each -> !each.getValue().strip().equalsIgnoreCase("false"));
  }

  /** Returns whether options decide the columns of a table, and Spark does not tell a catalog. */
  public static boolean statesColumns(Map<String, String> options) {
    return asksForChanges(options)
        || options.keySet().stream()
            .anyMatch(
                each -> each.equalsIgnoreCase("epoch") || each.equalsIgnoreCase(SCHEMA_EPOCH));
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
