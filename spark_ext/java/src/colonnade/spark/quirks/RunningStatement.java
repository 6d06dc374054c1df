package colonnade.spark.quirks;

import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import scala.jdk.javaapi.CollectionConverters;

/** The statement that runs in this thread, of which Spark tells a source only a part. */
public final class RunningStatement {
  private RunningStatement() {}

  /** Its analyzed plan; nothing where none runs. */
  static Optional<LogicalPlan> plan() {
    String execution =
        SparkSession.active().sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
    if (execution == null) {
      return Optional.empty();
    }
    QueryExecution query = SQLExecution.getQueryExecution(Long.parseLong(execution));
    return Optional.ofNullable(query).map(QueryExecution::analyzed);
  }

  /** The node of a kind that it has, from the root on. */
  public static <T> Optional<T> find(Class<T> kind) {
    return plan().flatMap(plan -> find(plan, kind));
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
