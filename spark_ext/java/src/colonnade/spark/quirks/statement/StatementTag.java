package colonnade.spark.quirks.statement;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.SparkSession;

/**
 * The transaction id that a caller has given the statement of this thread, as a tag of Spark
 * ({@code SparkSession.addTag}). By this id the caller finds in the log what the statement did.
 *
 * <p>Seen on Spark 4.1 and 4.3: the local property {@code spark.job.tags}, a comma-separated list.
 */
public final class StatementTag {
  static final String TAGS = "spark.job.tags";
  private static final Pattern TAG = Pattern.compile("colonnade-transaction-([0-9a-f]{32})");

  private StatementTag() {}

  /** Returns the id, or null without one. */
  public static String running() {
    String tags = SparkSession.active().sparkContext().getLocalProperty(TAGS);
    Matcher found = TAG.matcher(tags == null ? "" : tags);
    return found.find() ? found.group(1) : null;
  }
}
