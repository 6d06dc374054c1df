package colonnade.spark.quirks.statement;

import java.util.Set;
import java.util.function.Predicate;

/**
 * Which part of Spark calls the catalog, found on the stack of this thread. Spark passes the
 * catalog nothing that would tell.
 *
 * <p>Seen on Spark 4.1 and 4.3: the class names below. The rule that evolves schemas is {@code
 * ResolveMergeIntoSchemaEvolution} on 4.1 and {@code ResolveSchemaEvolution} on 4.3.
 */
public final class Caller {
  private static final String FRAME_WRITER = "org.apache.spark.sql.classic.DataFrameWriter";
  private static final String STREAM_WRITER = "org.apache.spark.sql.classic.DataStreamWriter";
  private static final String READ_RULE =
      "org.apache.spark.sql.catalyst.analysis.ResolveDataSource";
  private static final String CONNECT =
      "org.apache.spark.sql.connect.execution.ExecuteThreadRunner";

  /** The methods that run SQL texts: of sessions, of Spark Connect and of {@code spark-sql}. */
  private static final Set<String> STATEMENTS =
      Set.of(
          "org.apache.spark.sql.classic.SparkSession.sql",
          "org.apache.spark.sql.connect.planner.SparkConnectPlanner.handleSqlCommand",
          "org.apache.spark.sql.hive.thriftserver.SparkSQLDriver.run");

  private static final String CATALOG = "org.apache.spark.sql.classic.Catalog";

  /** The rules of Spark 4.3 and of 4.1. */
  private static final Set<String> SCHEMA_EVOLUTION =
      Set.of(
          "org.apache.spark.sql.catalyst.analysis.ResolveSchemaEvolution$",
          "org.apache.spark.sql.catalyst.analysis.ResolveMergeIntoSchemaEvolution$");

  private static final String CONSTRAINTS =
      "org.apache.spark.sql.catalyst.analysis.ResolveTableConstraints";

  private Caller() {}

  /**
   * Whether a SQL text runs, and not a method such as {@code df.write.saveAsTable}. Where the user
   * has chosen no format, such a method names Spark's default format, which a text may name too.
   */
  public static boolean isStatement() {
    return any(frame -> STATEMENTS.contains(frame.getClassName() + "." + frame.getMethodName()));
  }

  /** Whether {@code df.write} calls, which asks for CREATE OR REPLACE TABLE to overwrite. */
  public static boolean isFrameWriter() {
    return any(frame -> frame.getClassName().equals(FRAME_WRITER))
        || any(frame -> frame.getClassName().equals(CONNECT)) && ConnectCall.isFrameWriter();
  }

  /** Whether {@code df.writeStream.start(path)} calls. */
  public static boolean isStreamToPath() {
    return any(
        frame ->
            frame.getClassName().equals(STREAM_WRITER)
                && frame.getMethodName().equals("startInternal"));
  }

  /**
   * Whether {@code spark.readStream} calls a data source. The rule that calls has another way to a
   * table that is read once.
   */
  public static boolean isStreamReader() {
    return any(frame -> frame.getClassName().equals(READ_RULE));
  }

  /** Returns whether the caller is a write WITH SCHEMA EVOLUTION; Spark alters its table first. */
  public static boolean isSchemaEvolution() {
    return any(frame -> SCHEMA_EVOLUTION.contains(frame.getClassName()));
  }

  /** Whether the rule calls that adds conditions of constraints to the rows of a statement. */
  public static boolean isConstraintRule() {
    return any(frame -> frame.getClassName().startsWith(CONSTRAINTS));
  }

  /**
   * Whether Spark drops a temporary view, as {@code spark.sql(text, t=frame)} does in Python. Spark
   * then loads the tables of the view twice to look for cached rows, and reads none.
   */
  public static boolean isViewDrop() {
    return any(
        frame ->
            frame.getClassName().equals(CATALOG) && frame.getMethodName().equals("uncacheView"));
  }

  private static boolean any(Predicate<StackWalker.StackFrame> wanted) {
    return StackWalker.getInstance().walk(frames -> frames.anyMatch(wanted));
  }
}
