package colonnade.spark.quirks.statement;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connect.service.SparkConnectService$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The call of a Spark Connect client that runs in this thread. The class is loaded only where the
 * server of Spark Connect is.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkConnectService.executionManager}, and job tags that
 * name the call.
 */
final class ConnectCall {
  private ConnectCall() {}

  /** Whether the client called {@code df.write}. Its plan looks like that of {@code df.writeTo}. */
  static boolean isFrameWriter() {
    String tags = SparkSession.active().sparkContext().getLocalProperty(StatementTag.TAGS);
    List<String> running = tags == null ? List.of() : List.of(tags.split(","));
    var calls = SparkConnectService$.MODULE$.executionManager().listExecuteHolders();
    return CollectionConverters.asJava(calls).stream()
        .filter(call -> running.contains(call.jobTag()))
        .anyMatch(call -> call.request().getPlan().getCommand().hasWriteOperation());
  }
}
