package colonnade.spark.quirks;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;

/**
 * The transaction id that a caller gave the statement that runs in this thread, as a tag of Spark's
 * ({@code SparkSession.addTag}): by it the caller finds in the log what the statement did.
 */
public final class StatementTag {
  static final String TAGS = "spark.job.tags";
  private static final Pattern TAG = Pattern.compile("colonnade-transaction-([0-9a-f]{32})");

  private StatementTag() {}

  /** The id, or null. */
  public static String running() {
    String tags = SparkSession.active().sparkContext().getLocalProperty(TAGS);
    Matcher found = TAG.matcher(tags == null ? "" : tags);
    return found.find() ? found.group(1) : null;
  }
}
