package colonnade.spark.quirks.session;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The version of Spark that loads the jar.
 *
 * <p>Seen on Spark 3.5 and 4.0: a session with the extension ended in a {@code NoSuchMethodError}.
 * This class uses nothing that these versions lack.
 */
public final class SparkVersion {
  /** As in spark_ext/supported.py. */
  private static final int MAJOR = 4;

  private static final int MINOR = 1;
  private static final Pattern START = Pattern.compile("(\\d+)\\.(\\d+).*");

  private SparkVersion() {}

  /**
   * Checks the version before anything else of Spark is used.
   *
   * @throws IllegalStateException saying what to install, if Spark is too old
   */
  public static void require() {
    String version = org.apache.spark.package$.MODULE$.SPARK_VERSION();
    if (!isSupported(version)) {
      throw new IllegalStateException(refusal(version));
    }
  }

  /** Returns whether a version such as {@code 4.1.4} or {@code 3.5.2-amzn-1} is supported. */
  public static boolean isSupported(String version) {
    Matcher found = START.matcher(version);
    if (!found.matches()) {
      return false;
    }
    int major = Integer.parseInt(found.group(1));
    return major > MAJOR || major == MAJOR && Integer.parseInt(found.group(2)) >= MINOR;
  }

  /** Returns the sentence that refuses a version. */
  public static String refusal(String version) {
    return "Colonnade needs Spark %d.%d or newer, but this session runs Spark %s: install"
            .formatted(MAJOR, MINOR, version)
        + " colonnade[spark], or connect to a newer server.";
  }
}
