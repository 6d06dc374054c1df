package colonnade.spark.quirks.writes;

import colonnade.planner.Json;
import colonnade.planner.messages.Envelope.Reply;
import colonnade.planner.messages.MessageJson;
import colonnade.planner.messages.Writes.Drawn;
import colonnade.store.TaskFailure;
import colonnade.write.IdentitySource;
import com.fasterxml.jackson.databind.JsonNode;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.util.RpcUtils$;
import scala.reflect.ClassTag$;

/**
 * Values of identity columns that a task asks the driver for; see {@link IdentityEndpoint}. An
 * answer that is lost, or that comes to an attempt that fails, leaves a gap.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code RpcUtils.makeDriverRef} and {@code RpcEndpointRef.askSync},
 * as Spark's own tasks ask the driver where the blocks of a shuffle are.
 */
record DriverDraws(String endpoint) implements IdentitySource {

  /** What a task asks for: values, or to record the farthest value that it was given. */
  record Asked(long column, long count, String beyond, String farthest) {}

  @Override
  public Values draw(int column, long count, Long beyond) {
    String farthest = beyond == null ? null : beyond.toString();
    JsonNode answer = ask(new Asked(column, count, farthest, null));
    Drawn drawn = MessageJson.read(answer, Drawn.class);
    return new Values(Long.parseLong(drawn.first()), drawn.count());
  }

  @Override
  public void given(int column, long farthest) {
    ask(new Asked(column, 0, null, Long.toString(farthest)));
  }

  private JsonNode ask(Asked asked) {
    SparkEnv env = SparkEnv.get();
    RpcEndpointRef driver = RpcUtils$.MODULE$.makeDriverRef(endpoint, env.conf(), env.rpcEnv());
    String text = driver.askSync(Json.write(asked), ClassTag$.MODULE$.apply(String.class));
    Reply answer = MessageJson.read(Json.parse(text), Reply.class);
    if (answer.error() != null) {
      String code = answer.error().code();
      throw TaskFailure.of(code, code, answer.error().message());
    }
    return answer.result();
  }
}
