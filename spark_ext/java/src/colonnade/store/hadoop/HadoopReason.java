package colonnade.store.hadoop;

import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.apache.hadoop.net.ConnectTimeoutException;
import org.apache.hadoop.security.AccessControlException;

/** Why a call of a file system of Hadoop failed, in words that end a sentence. */
final class HadoopReason {
  private static final String DENIED =
      "permission denied; check the credentials in Spark's settings for Hadoop, and what they"
          + " allow";
  private static final String UNREACHABLE =
      "the server cannot be reached; check its address in Spark's settings for Hadoop, and the"
          + " network";

  /** A kind of error without an answer of a server, and what it means. */
  private record Kind(Class<? extends Exception> kind, String reason) {}

  /** The first kind that fits counts: a connection that times out is also a late answer. */
  private static final List<Kind> UNANSWERED =
      List.of(
          new Kind(
              SSLException.class,
              "the certificate of the server is not trusted, or it speaks no TLS"),
          new Kind(ConnectException.class, UNREACHABLE),
          new Kind(ConnectTimeoutException.class, UNREACHABLE),
          new Kind(NoRouteToHostException.class, UNREACHABLE),
          new Kind(UnknownHostException.class, UNREACHABLE),
          new Kind(SocketTimeoutException.class, "the server did not answer in time"),
          new Kind(AccessDeniedException.class, DENIED));

  private HadoopReason() {}

  /**
   * Returns the reason of an error, if it is known. It holds no text of the server or the client.
   *
   * @param verb what could not be done: {@code read}, {@code written} or {@code opened}
   */
  static Optional<String> of(Exception error, String verb) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      Optional<String> refused = refusal(each, verb);
      if (refused.isPresent()) {
        return refused;
      }
    }
    // A denial may wrap the failure to fetch credentials, which says more.
    for (Kind each : UNANSWERED) {
      if (isOrHas(error, each.kind())) {
        return Optional.of(each.reason());
      }
    }
    return Optional.empty();
  }

  /** Returns what an error means if it has a server's answer itself. */
  private static Optional<String> refusal(Throwable error, String verb) {
    return S3Refusal.reason(error, verb)
        .or(() -> AzureRefusal.reason(error, verb))
        .or(() -> GcsRefusal.reason(error, verb))
        .or(() -> hdfsRefusal(error, verb));
  }

  private static Optional<String> hdfsRefusal(Throwable error, String verb) {
    if (!(error instanceof AccessControlException)) {
      return Optional.empty();
    }
    String need = verb.equals("written") ? "write" : "read";
    return Optional.of("permission denied; the user needs permission to " + need + " there");
  }

  private static boolean isOrHas(Throwable error, Class<? extends Exception> kind) {
    return error != null && (kind.isInstance(error) || isOrHas(error.getCause(), kind));
  }
}
