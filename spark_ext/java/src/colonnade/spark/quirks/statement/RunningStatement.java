package colonnade.spark.quirks.statement;

import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.V2CreateTableAsSelectPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The statement that runs in this thread. Spark passes a source only a part of it.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SQLExecution.getQueryExecution}, which knows the plan by the
 * execution id of the thread.
 */
public final class RunningStatement {
  private RunningStatement() {}

  /** Returns the analyzed plan, or nothing if no statement runs. */
  public static Optional<LogicalPlan> plan() {
    return execution().map(QueryExecution::analyzed);
  }

  private static Optional<QueryExecution> execution() {
    String execution =
        SparkSession.active().sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
    if (execution == null) {
      return Optional.empty();
    }
    return Optional.ofNullable(SQLExecution.getQueryExecution(Long.parseLong(execution)));
  }

  /** Whether the statement creates or replaces a table with the rows of a query. */
  public static boolean createsFromQuery() {
    return find(V2CreateTableAsSelectPlan.class).isPresent();
  }

  /** Returns the write options of a statement that replaces a table with the rows of a query. */
  public static Optional<CaseInsensitiveStringMap> replacementOptions() {
    return find(ReplaceTableAsSelect.class)
        .map(statement -> CollectionConverters.asJava(statement.writeOptions()))
        .map(CaseInsensitiveStringMap::new);
  }

  /** Returns the first node of a kind in the plan, from the root on. */
  public static <T> Optional<T> find(Class<T> kind) {
    return plan().flatMap(plan -> find(plan, kind));
  }

  /**
   * Returns the first node of a kind in the plan that Spark optimizes and runs. In this
   * plan, cached results are already in the place of the queries that they were computed from.
   */
  public static <T> Optional<T> findToRun(Class<T> kind) {
    return execution().flatMap(query -> find(query.withCachedData(), kind));
  }

  private static <T> Optional<T> find(LogicalPlan plan, Class<T> kind) {
    if (kind.isInstance(plan)) {
      return Optional.of(kind.cast(plan));
    }
    return CollectionConverters.asJava(plan.children()).stream()
        .flatMap(child -> find(child, kind).stream())
        .findFirst();
  }
}
