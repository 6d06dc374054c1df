package colonnade.planner;

import colonnade.planner.messages.Envelope;
import colonnade.planner.messages.Envelope.Reply;
import colonnade.planner.messages.MessageJson;
import colonnade.planner.messages.OneTimeRequest;
import colonnade.planner.messages.Procedures;
import colonnade.planner.messages.Request;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Calls the Python planner from the driver. The planner is a process of {@code
 * colonnade.spark_ext.planner} that starts with the first request and stays alive. Requests of
 * several threads run concurrently.
 *
 * <p>If the process ends, it is replaced and its requests are sent again, except those of {@link
 * OneTimeRequest}. All other requests are safe to repeat, because a commit carries its own
 * transaction id and base (docs/spec/epoch-log.md).
 */
public final class Planner {
  /** The version of this jar. The Python package must have the same version. */
  public static final String VERSION =
      Objects.requireNonNullElse(Planner.class.getPackage().getImplementationVersion(), "unknown");

  /** The session setting that names the session's current transaction. */
  public static final String TRANSACTION = "spark.colonnade.transaction";

  /** The session setting whose text the history shows with each epoch of the session. */
  private static final String USER_METADATA = "spark.colonnade.userMetadata";

  /** The prefix of session settings that are storage options. */
  private static final String STORAGE = "spark.colonnade.storage.";

  /** The tag of Spark Connect's own that names the user of a client. */
  private static final Pattern CLIENT =
      Pattern.compile("SparkConnect_OperationTag_User_(.*?)_Session_");

  private static final int ATTEMPTS = 3;
  private static final PlannerLog LOG = new PlannerLog();
  private static final Map<PlannerCommand, Running> RUNNING = new ConcurrentHashMap<>();

  /** The process of one command. While it starts, only requests for the same command wait. */
  private static final class Running {
    final Lock starting = new ReentrantLock();
    volatile PlannerProcess process;
  }

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Planner::stopAll, "colonnade-planner-stop"));
  }

  private Planner() {}

  /** Calls {@link #request}, for callers that may not declare checked exceptions. */
  public static <R extends Record> R call(Request<R> request) {
    try {
      return request(request);
    } catch (ColonnadeException error) {
      throw error.unchecked();
    }
  }

  /** Returns the current transaction of the session, or null. */
  public static String transaction() {
    return SparkSession.active().conf().get(TRANSACTION, null);
  }

  /** Returns the user of the session: the client's name on Spark Connect, else the driver's user. */
  private static String user() {
    SparkContext context = SparkSession.active().sparkContext();
    String tags = context.getLocalProperty("spark.job.tags");
    Matcher client = CLIENT.matcher(tags == null ? "" : tags);
    return client.find() && !client.group(1).isEmpty() ? client.group(1) : context.sparkUser();
  }

  /** Returns the storage options of the session by name. They hold secrets. */
  private static Map<String, String> storage() {
    Map<String, String> found = new HashMap<>();
    CollectionConverters.asJava(SparkSession.active().conf().getAll())
        .forEach(
            (name, value) -> {
              if (name.startsWith(STORAGE)) {
                found.put(name.substring(STORAGE.length()), value);
              }
            });
    return found;
  }

  /**
   * Returns the reply to a request, or throws the planner's error with the same code and sentence.
   */
  public static <R extends Record> R request(Request<R> request) throws ColonnadeException {
    PlannerCommand command = PlannerCommand.configured();
    Envelope envelope = envelope(request);
    String op = envelope.op();
    for (int attempt = 1; ; attempt++) {
      PlannerProcess process = running(command);
      try {
        return MessageJson.readReply(result(process.request(envelope, attempt > 1)), request);
      } catch (PlannerProcess.Gone gone) {
        process.stop();
        if (gone.wasAsked() && request instanceof OneTimeRequest) {
          String sentence =
              String.format(
                  "The planner ended while it ran %s%s: see whether that was done before you run"
                      + " it again.",
                  op, LOG.tail(0));
          throw new ColonnadeException("COLONNADE_PLANNER", sentence, gone);
        }
        if (attempt == ATTEMPTS) {
          String sentence =
              String.format(
                  "The planner ended %d times while it ran %s%s.", ATTEMPTS, op, LOG.tail(0));
          throw new ColonnadeException("COLONNADE_PLANNER", sentence, gone);
        }
      } catch (InterruptedException error) {
        Thread.currentThread().interrupt();
        String sentence = "The query was cancelled while the planner ran " + op + ".";
        throw new ColonnadeException("COLONNADE_PLANNER", sentence, error);
      }
    }
  }

  /** Returns a request with what the planner needs of the session. */
  private static Envelope envelope(Request<?> request) {
    return new Envelope(
        0,
        MessageJson.nameOf(request.getClass()),
        MessageJson.tree(request),
        user(),
        SparkSession.active().conf().get(USER_METADATA, null),
        transaction(),
        storage(),
        HadoopSettings.ofStores(),
        false);
  }

  /** Returns what the session's planner currently reports about itself. */
  public static Procedures.Description describe() throws ColonnadeException {
    return request(new Procedures.Describe());
  }

  /** Returns the path of the file with the planners' log. */
  public static String log() throws ColonnadeException {
    return LOG.file().getPath();
  }

  private static JsonNode result(Reply reply) throws ColonnadeException {
    if (reply.error() != null) {
      throw new ColonnadeException(reply.error().code(), reply.error().message());
    }
    reply.notices().forEach(Notices::tell);
    return reply.result();
  }

  private static PlannerProcess running(PlannerCommand command) throws ColonnadeException {
    Running running = RUNNING.computeIfAbsent(command, unknown -> new Running());
    lock(running);
    try {
      if (running.process == null || running.process.isGone()) {
        running.process = PlannerProcess.start(command, LOG);
      }
      return running.process;
    } finally {
      running.starting.unlock();
    }
  }

  private static void lock(Running running) throws ColonnadeException {
    try {
      running.starting.lockInterruptibly();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      String sentence = "The query was cancelled while the planner started.";
      throw new ColonnadeException("COLONNADE_PLANNER", sentence, error);
    }
  }

  private static void stopAll() {
    for (Running running : RUNNING.values()) {
      PlannerProcess process = running.process;
      if (process != null) {
        process.stop(); // one that starts just now ends with our end of its input
      }
    }
    LOG.deleteIfEmpty();
  }
}
