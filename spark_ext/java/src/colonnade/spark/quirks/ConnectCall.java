package colonnade.spark.quirks;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connect.service.SparkConnectService$;
import scala.jdk.javaapi.CollectionConverters;

/** The call of a client of Spark Connect that runs in this thread. Loaded where its server is. */
final class ConnectCall {
  private ConnectCall() {}

  /** Whether it is {@code df.write}, of which the plan that runs looks like {@code df.writeTo}. */
  static boolean isFrameWriter() {
    String tags = SparkSession.active().sparkContext().getLocalProperty(StatementTag.TAGS);
    List<String> running = tags == null ? List.of() : List.of(tags.split(","));
    var calls = SparkConnectService$.MODULE$.executionManager().listExecuteHolders();
    return CollectionConverters.asJava(calls).stream()
        .filter(call -> running.contains(call.jobTag()))
        .anyMatch(call -> call.request().getPlan().getCommand().hasWriteOperation());
  }
}
