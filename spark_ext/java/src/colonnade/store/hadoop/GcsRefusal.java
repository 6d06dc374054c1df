package colonnade.store.hadoop;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a refusal by GCS means, in the sentences of {@code manifests/store/gcs/failures.py}.
 *
 * <p>Google's connector has the answer in an error of its client, whose package it renames.
 */
final class GcsRefusal {
  private static final String CLIENT = ".google.";

  private static final Map<String, String> SENTENCES =
      Map.of(
          "retentionPolicyNotMet", "a retention policy of the bucket keeps the object",
          "objectUnderActiveHold", "a hold keeps the object",
          "userProjectMissing", "the requester pays for this bucket; set fs.gs.requester.pays.mode",
          "userProjectAccountProblem", "the project that pays has no billing account",
          "billingNotEnabled", "the project of the bucket has no billing account");

  /** The permission that a call needs, by what it does to the object. */
  private static final Map<String, String> PERMISSIONS =
      Map.of(
          "read", "storage.objects.get, or storage.objects.list where the object is absent",
          "written", "storage.objects.create");

  private GcsRefusal() {}

  /** Returns the reason of an error that has an answer of GCS, for an object not so used. */
  static Optional<String> reason(Throwable error, String verb) {
    if (!error.getClass().getName().contains(CLIENT)) {
      return Optional.empty();
    }
    try {
      int status = (int) ServerAnswer.ask(error, "getStatusCode");
      return Optional.of(reason(new ServerAnswer(status, code(error)), verb));
    } catch (ReflectiveOperationException | ClassCastException other) {
      return Optional.empty(); // An error of another kind has no such method.
    }
  }

  /** Returns the server's word for the first of the errors in an answer, if it has JSON. */
  private static String code(Throwable error) {
    try {
      Object details = ServerAnswer.ask(error, "getDetails");
      List<?> errors = (List<?>) ServerAnswer.ask(details, "getErrors");
      return String.valueOf(ServerAnswer.ask(errors.get(0), "getReason"));
    } catch (ReflectiveOperationException | RuntimeException other) {
      return "";
    }
  }

  private static String reason(ServerAnswer answer, String verb) {
    if (SENTENCES.containsKey(answer.code())) {
      return SENTENCES.get(answer.code());
    }
    return switch (answer.status()) {
      case 401 -> "the credentials are wrong or have expired; renew them";
      case 403 ->
          "permission denied; the credentials need "
              + PERMISSIONS.getOrDefault(verb, "permissions for this bucket");
      case 404 -> "the bucket does not exist; create it first, or correct its name";
      default -> answer.sentence();
    };
  }
}
