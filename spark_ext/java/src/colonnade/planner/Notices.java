package colonnade.planner;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sentences for a user whose statement succeeds, although a part of it has no effect. They are
 * warnings in the log of the driver. Spark plans a statement several times, so a sentence is told
 * once a minute.
 */
public final class Notices {
  private static final Logger LOG = LoggerFactory.getLogger(Notices.class);
  private static final long PAUSE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int MOST = 100;
  private static final Map<String, Long> TOLD =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > MOST;
        }
      };

  private Notices() {}

  /** Tells the user a sentence, unless it was told in the last minute. */
  public static void tell(String sentence) {
    long now = System.nanoTime();
    synchronized (TOLD) {
      Long last = TOLD.remove(sentence);
      boolean again = last != null && now - last < PAUSE_NANOS;
      TOLD.put(sentence, again ? last : now);
      if (again) {
        return;
      }
    }
    LOG.warn(sentence);
  }
}
