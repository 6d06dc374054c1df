package colonnade.spark.feed;

import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

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
      found.computeIfPresent(name, (any, text) -> time(text).orElse(text));
    }
    return found;
  }

  /** Returns the time that a text means in this session, in UTC; nothing for any other text. */
  public static Optional<String> time(String text) {
    ZoneId zone = DateTimeUtils.getZoneId(SQLConf.get().sessionLocalTimeZone());
    Option<Object> micros = DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), zone);
    return micros.isDefined() ? Optional.of(time((Long) micros.get())) : Optional.empty();
  }

  /** Returns a time, in microseconds since 1970 UTC, as a text in UTC. */
  public static String time(long micros) {
    return DateTimeUtils.microsToInstant(micros).toString();
  }
}
