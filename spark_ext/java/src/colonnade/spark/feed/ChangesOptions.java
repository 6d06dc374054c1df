package colonnade.spark.feed;

import colonnade.spark.table.SessionTime;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The options of a read of changes, as the planner knows them. */
public final class ChangesOptions {
  public static final String FIRST_VERSION = "startingVersion";
  public static final String LAST_VERSION = "endingVersion";
  public static final String FIRST_TIME = "startingTimestamp";
  public static final String LAST_TIME = "endingTimestamp";

  /** Those that say something beside the range and what Spark itself computes. */
  public static final Set<String> OF_CHANGELOG = Set.of("also", "allowFuture", "schemaEpoch");

  private static final String PATH = "path";

  private ChangesOptions() {}

  /**
   * Returns options without the path, and with times in UTC: a text without an offset is in the time
   * zone of the session, as in all of Spark.
   */
  static Map<String, String> of(Map<String, String> given) {
    Map<String, String> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    found.putAll(given);
    found.remove(PATH);
    for (String name : List.of(FIRST_TIME, LAST_TIME)) {
      SessionTime.toUtc(found, name);
    }
    return found;
  }
}
