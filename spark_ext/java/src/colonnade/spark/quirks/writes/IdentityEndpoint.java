package colonnade.spark.quirks.writes;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Json;
import colonnade.planner.Planner;
import colonnade.planner.messages.Envelope.Failure;
import colonnade.planner.messages.Envelope.Reply;
import colonnade.planner.messages.MessageJson;
import colonnade.planner.messages.Request;
import colonnade.planner.messages.Writes.DrawIdentity;
import colonnade.planner.messages.Writes.RecordIdentity;
import colonnade.spark.quirks.writes.DriverDraws.Asked;
import colonnade.write.IdentitySource;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.UUID;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.IsolatedRpcEndpoint;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.sql.SparkSession;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * The driver's side of {@link DriverDraws}: takes values of identity columns for the tasks of one
 * job. Only the driver can commit to the log. Messages are texts, because the driver's threads may
 * not know the classes of this jar.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code RpcEnv.setupEndpoint}, and {@code IsolatedRpcEndpoint}, whose
 * thread of its own may wait for a commit without delaying Spark's messages.
 */
public final class IdentityEndpoint implements IsolatedRpcEndpoint, AutoCloseable {
  private final SparkSession session;
  private final String job;
  private final RpcEnv env = SparkEnv.get().rpcEnv();
  private final String name = "colonnade-identity-" + UUID.randomUUID();
  private RpcEndpointRef running;

  private IdentityEndpoint(SparkSession session, String job) {
    this.session = session;
    this.job = job;
  }

  /** Begins to answer the tasks of a job in the session of this thread, until it is closed. */
  public static IdentityEndpoint open(String job) {
    IdentityEndpoint opened = new IdentityEndpoint(SparkSession.active(), job);
    opened.running = opened.env.setupEndpoint(opened.name, opened);
    return opened;
  }

  /** Returns what the tasks take values from. */
  public IdentitySource source() {
    return new DriverDraws(name);
  }

  @Override
  public RpcEnv rpcEnv() {
    return env;
  }

  @Override
  public int threadCount() {
    return 1;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object message) {
        return message instanceof String;
      }

      @Override
      public BoxedUnit apply(Object message) {
        context.reply(answer((String) message));
        return BoxedUnit.UNIT;
      }
    };
  }

  private String answer(String asked) {
    try {
      SparkSession.setActiveSession(session);
      Asked of = MessageJson.read(Json.parse(asked), Asked.class);
      Request<?> request =
          of.farthest() == null
              ? new DrawIdentity(job, of.column(), of.count(), of.beyond())
              : new RecordIdentity(job, of.column(), of.farthest());
      return text(MessageJson.tree(Planner.request(request)), null);
    } catch (ColonnadeException error) {
      return text(null, new Failure(error.code(), error.sentence()));
    }
  }

  private static String text(JsonNode result, Failure error) {
    return Json.write(MessageJson.tree(new Reply(0, result, error, List.of())));
  }

  /** Ends the answers. Safe to call again. */
  @Override
  public synchronized void close() {
    if (running != null) {
      env.stop(running);
      running = null;
    }
  }
}
