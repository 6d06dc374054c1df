package colonnade.planner;

import colonnade.planner.messages.Envelope;
import colonnade.planner.messages.Envelope.Reply;
import colonnade.planner.messages.MessageJson;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One running planner, with a writer and a thread that passes each reply to the call that waits for
 * it.
 *
 * <p>The process ends when its input is closed. It therefore never outlives this JVM.
 */
final class PlannerProcess {
  /** The process ended before it replied. The request may or may not have been carried out. */
  static final class Gone extends Exception {
    private final boolean asked;

    Gone(boolean asked, Throwable cause) {
      super("the planner process ended", cause);
      this.asked = asked;
    }

    /** Whether the request reached the process, so that the operation may have been carried out. */
    boolean wasAsked() {
      return asked;
    }
  }

  private final Process process;
  private final Writer requests;
  private final AtomicLong lastId = new AtomicLong();
  private final Map<Long, CompletableFuture<Reply>> waiting = new ConcurrentHashMap<>();
  private final CompletableFuture<JsonNode> hello = new CompletableFuture<>();
  private volatile boolean gone;

  private PlannerProcess(Process process) {
    this.process = process;
    this.requests =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    Thread reader = new Thread(this::readReplies, "colonnade-planner-" + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Starts a planner of the same version as this jar, or throws an error that says why it cannot
   * start.
   */
  static PlannerProcess start(PlannerCommand command, PlannerLog log) throws ColonnadeException {
    long before = log.size();
    PlannerProcess started;
    try {
      started = new PlannerProcess(command.process(log.file()).start());
    } catch (IOException error) {
      throw cannotStart(command, error.getMessage(), error);
    }
    boolean ready = false;
    try {
      JsonNode hello = started.hello.get(command.startSeconds(), TimeUnit.SECONDS);
      requireSameVersion(hello, command);
      ready = true;
      return started;
    } catch (TimeoutException error) {
      String reason = "it did not answer within " + command.startSeconds() + " s";
      throw cannotStart(command, reason + log.tail(before), error);
    } catch (ExecutionException error) {
      String reason = "it ended before it said hello";
      throw cannotStart(command, reason + log.tail(before), error.getCause());
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw cannotStart(command, "the query was cancelled meanwhile", error);
    } finally {
      if (!ready) {
        started.stop();
      }
    }
  }

  private static void requireSameVersion(JsonNode hello, PlannerCommand command)
      throws ColonnadeException {
    String ours = Planner.VERSION;
    String theirs = hello.path("version").asText();
    if (!ours.equals(theirs)) {
      throw new ColonnadeException(
          "COLONNADE_VERSION",
          String.format(
              "The jar of the Spark source is version %s, but the Python package of %s is version"
                  + " %s; install one version on both sides and start Spark anew.",
              ours, command.python(), theirs));
    }
  }

  private static ColonnadeException cannotStart(
      PlannerCommand command, String reason, Throwable cause) {
    String sentence =
        String.format(
            "The planner could not be started with %s (from %s): %s; set %s to a Python that has"
                + " Colonnade installed.",
            command.python(), command.setBy(), reason, PlannerCommand.PYTHON);
    return new ColonnadeException("COLONNADE_PLANNER", sentence, cause);
  }

  boolean isGone() {
    return gone;
  }

  /** Sends one request and waits for its reply. */
  Reply request(Envelope request, boolean again) throws Gone, InterruptedException {
    long id = lastId.incrementAndGet();
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    waiting.put(id, reply);
    try {
      send(Json.write(MessageJson.tree(request.sent(id, again))));
      return reply.get();
    } catch (IOException error) {
      throw new Gone(false, error);
    } catch (ExecutionException error) {
      throw new Gone(true, error.getCause());
    } finally {
      waiting.remove(id);
    }
  }

  private void send(String line) throws IOException, Gone {
    synchronized (requests) {
      // Asked after the call was entered into `waiting`: the reader fails it there, or we do here.
      if (gone) {
        throw new Gone(false, null);
      }
      requests.write(line);
      requests.write('\n');
      requests.flush();
    }
  }

  private void readReplies() {
    Throwable end = null;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 1 << 16)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        accept(line);
      }
    } catch (IOException | RuntimeException error) {
      end = error;
    } finally {
      gone = true;
      process.destroyForcibly();
      Gone told = new Gone(true, end);
      hello.completeExceptionally(told);
      waiting.values().forEach(reply -> reply.completeExceptionally(told));
    }
  }

  private void accept(String line) {
    if (!hello.isDone()) {
      if (line.startsWith("{\"hello\"")) { // not what a site's own start-up code prints before
        hello.complete(Json.parse(line).get("hello"));
      }
      return;
    }
    Reply reply = MessageJson.read(Json.parse(line), Reply.class);
    if (reply.id() == 0) {
      throw new IllegalStateException(reply.error().message()); // to a line of no known request
    }
    CompletableFuture<Reply> caller = waiting.get(reply.id());
    if (caller != null) {
      caller.complete(reply);
    }
  }

  /** Ends the process now. Calls that wait for a reply receive an error. */
  void stop() {
    gone = true;
    process.destroyForcibly();
  }
}
