package colonnade.spark.quirks.writes;

import colonnade.planner.Json;
import colonnade.planner.messages.MessageJson;
import colonnade.planner.messages.Writes.Drawn;
import colonnade.store.TaskFailure;
import colonnade.write.IdentitySource;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
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

  @Override
  public Values draw(int column, long count, Long beyond) {
    Map<String, Object> asked = new HashMap<>();
    asked.put("column", column);
    asked.put("count", count);
    asked.put("beyond", beyond == null ? null : beyond.toString());
    Drawn drawn = MessageJson.read(ask(asked), Drawn.class);
    return new Values(Long.parseLong(drawn.first()), drawn.count());
  }

  @Override
  public void given(int column, long farthest) {
    ask(Map.of("column", column, "farthest", Long.toString(farthest)));
  }

  private JsonNode ask(Map<String, Object> asked) {
    SparkEnv env = SparkEnv.get();
    RpcEndpointRef driver = RpcUtils$.MODULE$.makeDriverRef(endpoint, env.conf(), env.rpcEnv());
    String text = driver.askSync(Json.write(asked), ClassTag$.MODULE$.apply(String.class));
    JsonNode answer = Json.parse(text);
    if (answer.has("code")) {
      String code = answer.get("code").asText();
      throw TaskFailure.of(code, code, answer.get("sentence").asText());
    }
    return answer;
  }
}
