package colonnade.planner;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.classic.SparkSession;

/**
 * The session's settings for Hadoop: Spark's own {@code spark.hadoop.*}, those of the session, and
 * Hadoop's files. They hold secrets, and nothing shows them.
 */
public final class HadoopSettings {
  private HadoopSettings() {}

  /** Returns all settings, which tasks need to reach the store of a URL; none for a local path. */
  public static Map<String, String> ofTasks(String url) {
    Map<String, String> settings = new HashMap<>();
    if (url.contains("://")) {
      for (Map.Entry<String, String> entry : ofSession()) {
        if (!entry.getKey().startsWith("spark.")) {
          settings.put(entry.getKey(), entry.getValue());
        }
      }
    }
    return settings;
  }

  private static Configuration ofSession() {
    return SparkSession.active().sessionState().newHadoopConf();
  }
}
