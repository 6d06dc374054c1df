package colonnade.spark.quirks.statement;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import scala.Option;

/**
 * The query that Spark analyzes or plans in this thread, as a number. Spark loads a table several
 * times for one query, and the planner looks for newer epochs once for each number.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code QueryPlanningTracker.get} while a plan is analyzed, and the
 * tracker of {@code SQLExecution.getQueryExecution} when the tables of a plan are loaded anew.
 */
public final class PlannedQuery {
  /**
   * How long a query has one number. A DataFrame that runs long after it was analyzed reads what
   * was committed meanwhile.
   */
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The number of all requests that any earlier look serves. The planner has the same number. */
  private static final long ANY_LOOK = 0;

  private static final AtomicLong LAST = new AtomicLong(ANY_LOOK);

  /** The number of the requests of this thread that belong together, outside of a query. */
  private static final ThreadLocal<Long> TOGETHER = new ThreadLocal<>();
  private static final Map<QueryPlanningTracker, Known> KNOWN =
      Collections.synchronizedMap(new WeakHashMap<>());

  /** The number of a query, and when it was given. */
  private record Known(long number, long nanos) {
    static Known make() {
      return new Known(LAST.incrementAndGet(), System.nanoTime());
    }

    Known orNewer() {
      return System.nanoTime() - nanos < LONGEST_NANOS ? this : make();
    }
  }

  private PlannedQuery() {}

  /** Loads a table by several requests. The planner looks for new epochs at the first one only. */
  public static <T, E extends Exception> T together(Load<T, E> load) throws E {
    Long before = TOGETHER.get();
    if (before == null) {
      TOGETHER.set(LAST.incrementAndGet());
    }
    try {
      return load.run();
    } finally {
      TOGETHER.set(before);
    }
  }

  /** Loads a table. */
  public interface Load<T, E extends Exception> {
    /** Returns the table. */
    T run() throws E;
  }

  /** Returns the number of the running query for a request to the planner; null if unknown. */
  public static Long number() {
    if (Caller.isViewDrop()) {
      return ANY_LOOK;
    }
    QueryPlanningTracker tracker = tracker();
    if (tracker == null) {
      return TOGETHER.get();
    }
    return KNOWN.compute(tracker, (any, had) -> had == null ? Known.make() : had.orNewer()).number();
  }

  private static QueryPlanningTracker tracker() {
    Option<QueryPlanningTracker> analyzing = QueryPlanningTracker.get();
    if (analyzing.isDefined()) {
      return analyzing.get();
    }
    String execution =
        SparkSession.active().sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
    if (execution == null) {
      return null;
    }
    QueryExecution query = SQLExecution.getQueryExecution(Long.parseLong(execution));
    return query == null ? null : query.tracker();
  }
}
