package colonnade.spark.table;

import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/** Times as texts in UTC: a text without an offset is in the time zone of the session. */
public final class SessionTime {
  private SessionTime() {}

  /** Returns the time that a text means in this session, in UTC; nothing for any other text. */
  public static Optional<String> utc(String text) {
    ZoneId zone = DateTimeUtils.getZoneId(SQLConf.get().sessionLocalTimeZone());
    Option<Object> micros = DateTimeUtils.stringToTimestamp(UTF8String.fromString(text), zone);
    return micros.isDefined() ? Optional.of(utc((Long) micros.get())) : Optional.empty();
  }

  /** Returns a time, in microseconds since 1970 UTC, as a text in UTC. */
  public static String utc(long micros) {
    return DateTimeUtils.microsToInstant(micros).toString();
  }

  /** Puts the option of a time, if it is among {@code options}, into UTC. */
  public static void toUtc(Map<String, String> options, String name) {
    options.computeIfPresent(name, (any, text) -> utc(text).orElse(text));
  }
}
