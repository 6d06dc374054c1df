package colonnade.spark.quirks.session;

import colonnade.planner.Planner;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * A rule that takes the session of a stream out of a transaction. Spark clones the user's session
 * for each stream, with all settings, and so with the transaction that is open then. Rows of the
 * stream would become part of a transaction that may be rolled back, while the stream's checkpoint
 * says that they are written, and every batch after the transaction's end would fail.
 *
 * <p>Seen on Spark 4.1 and 4.3: the first plan that is analyzed in such a session is that of the
 * first batch, in a thread with the local property {@code StreamExecution.QUERY_ID_KEY}. So a
 * transaction that the batch itself begins stays.
 */
public final class StreamSession extends Rule<LogicalPlan> {
  private static final String QUERY_ID = "sql.streaming.queryId";

  private final SparkSession session;
  private final AtomicBoolean isFirst = new AtomicBoolean(true);

  public StreamSession(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (isFirst.getAndSet(false) && session.sparkContext().getLocalProperty(QUERY_ID) != null) {
      session.conf().unset(Planner.TRANSACTION);
    }
    return plan;
  }
}
