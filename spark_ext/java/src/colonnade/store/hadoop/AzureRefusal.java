package colonnade.store.hadoop;

import java.util.Map;
import java.util.Optional;

/**
 * What a refusal by Azure means, in the words of {@code manifests/store/azure/failures.py}.
 *
 * <p>ABFS knows the code words of few refusals, so most are told by their status.
 */
final class AzureRefusal {
  private static final String ERROR =
      "org.apache.hadoop.fs.azurebfs.contracts.exceptions.AbfsRestOperationException";

  private static final String REFUSED =
      "permission denied; the credentials are wrong, have expired, or lack ";

  /** What a call needs, by what it does to the object. */
  private static final Map<String, String> ROLES =
      Map.of(
          "read", "the role Storage Blob Data Reader, or a SAS with the permission r",
          "written",
              "the role Storage Blob Data Contributor, or a SAS with the permissions c and w");

  private AzureRefusal() {}

  /** Returns the reason of an error that has an answer of Azure, for an object not so used. */
  static Optional<String> reason(Throwable error, String verb) {
    if (!error.getClass().getName().equals(ERROR)) {
      return Optional.empty();
    }
    try {
      int status = (int) ServerAnswer.ask(error, "getStatusCode");
      Object code = ServerAnswer.ask(ServerAnswer.ask(error, "getErrorCode"), "getErrorCode");
      String word = code == null ? "" : code.toString();
      return Optional.of(reason(new ServerAnswer(status, word), verb));
    } catch (ReflectiveOperationException other) {
      return Optional.empty(); // A later version of ABFS has other methods.
    }
  }

  private static String reason(ServerAnswer answer, String verb) {
    return switch (answer.status()) {
      case 401, 403 -> REFUSED + ROLES.getOrDefault(verb, "access to this container");
      case 404 -> "the container or the object does not exist";
      default -> answer.sentence();
    };
  }
}
