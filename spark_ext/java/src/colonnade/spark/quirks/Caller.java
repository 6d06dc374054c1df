package colonnade.spark.quirks;

import java.util.Set;
import java.util.function.Predicate;

/** Who asks the catalog, where Spark passes on nothing that would tell. */
public final class Caller {
  private static final String FRAME_WRITER = "org.apache.spark.sql.classic.DataFrameWriter";
  private static final String STREAM_WRITER = "org.apache.spark.sql.classic.DataStreamWriter";
  private static final String CONNECT =
      "org.apache.spark.sql.connect.execution.ExecuteThreadRunner";

  /** What carries out SQL texts: sessions, Spark Connect, and {@code spark-sql}. */
  private static final Set<String> STATEMENTS =
      Set.of(
          "org.apache.spark.sql.classic.SparkSession.sql",
          "org.apache.spark.sql.connect.planner.SparkConnectPlanner.handleSqlCommand",
          "org.apache.spark.sql.hive.thriftserver.SparkSQLDriver.run");

  /** The rules of Spark 4.3 and of 4.1. */
  private static final Set<String> SCHEMA_EVOLUTION =
      Set.of(
          "org.apache.spark.sql.catalyst.analysis.ResolveSchemaEvolution$",
          "org.apache.spark.sql.catalyst.analysis.ResolveMergeIntoSchemaEvolution$");

  private Caller() {}

  /**
   * Whether a SQL text is carried out and not {@code df.write.saveAsTable}, say: where no format
   * was chosen, such methods name Spark's default one, as a statement may, too.
   */
  public static boolean isStatement() {
    return any(frame -> STATEMENTS.contains(frame.getClassName() + "." + frame.getMethodName()));
  }

  /** Whether it is {@code df.write}, which says CREATE OR REPLACE TABLE for an overwrite. */
  public static boolean isFrameWriter() {
    return any(frame -> frame.getClassName().equals(FRAME_WRITER))
        || any(frame -> frame.getClassName().equals(CONNECT)) && ConnectCall.isFrameWriter();
  }

  /** Whether it is {@code df.writeStream}, which creates the table that is not there. */
  public static boolean isStreamWriter() {
    return any(frame -> frame.getClassName().equals(STREAM_WRITER));
  }

  /** Whether it is a write WITH SCHEMA EVOLUTION, for which Spark alters the table beforehand. */
  public static boolean isSchemaEvolution() {
    return any(frame -> SCHEMA_EVOLUTION.contains(frame.getClassName()));
  }

  private static boolean any(Predicate<StackWalker.StackFrame> wanted) {
    return StackWalker.getInstance().walk(frames -> frames.anyMatch(wanted));
  }
}
