package colonnade.store.hadoop;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;

/**
 * What a refusal by S3 means, in the sentences of {@code manifests/store/s3/failures.py}.
 *
 * <p>S3A has the server's answer in an error of Amazon's SDK below its own. The jar is compiled
 * without that SDK, and asks for the answer by the names of its methods.
 */
final class S3Refusal {
  private static final String EXPIRED = "the credentials have expired; renew them";
  private static final String REGION = "the region is wrong; set fs.s3a.endpoint.region";

  /** The meaning of the server's code words. */
  private static final Map<String, String> SENTENCES =
      Map.ofEntries(
          entry("NoSuchBucket", "the bucket does not exist; create it first, or correct its name"),
          entry("InvalidBucketName", "that is not a name of a bucket"),
          entry(
              "InvalidAccessKeyId", "the server does not know the access key; check the credentials"),
          entry("SignatureDoesNotMatch", "the secret key is wrong; check the credentials"),
          entry("ExpiredToken", EXPIRED),
          entry("TokenRefreshRequired", EXPIRED),
          entry("InvalidToken", "the session token is not valid; renew the credentials"),
          entry(
              "RequestTimeTooSkewed",
              "the clock of this machine is wrong by more than 15 minutes; set it"),
          entry(
              "PermanentRedirect", "the bucket is in another region; set fs.s3a.endpoint.region"),
          entry("AuthorizationHeaderMalformed", REGION),
          entry("IllegalLocationConstraintException", REGION),
          entry("QuotaExceeded", "the quota of the bucket is used up"),
          entry("XMinioStorageFull", "the disk of the server is full"),
          entry(
              "XMinioObjectExistsAsDirectory",
              "a folder of that name is there; the place is used otherwise"),
          entry(
              "XMinioParentIsObject", "a folder above it is an object; the place is used otherwise"));

  /** The permission that a call needs, by what it does to the object. */
  private static final Map<String, String> PERMISSIONS =
      Map.of(
          "read", "s3:GetObject, or s3:ListBucket where the object is absent",
          "written", "s3:PutObject");

  private S3Refusal() {}

  /** Returns the reason of an error that has an answer of S3, for an object that was not so used. */
  static Optional<String> reason(Throwable error, String verb) {
    try {
      int status = (int) ServerAnswer.ask(error, "statusCode");
      Object details = ServerAnswer.ask(error, "awsErrorDetails");
      Object code = details == null ? null : ServerAnswer.ask(details, "errorCode");
      String word = code == null ? "" : code.toString();
      return Optional.of(reason(new ServerAnswer(status, word), verb));
    } catch (ReflectiveOperationException other) {
      return Optional.empty(); // An error of another kind has no such methods.
    }
  }

  private static String reason(ServerAnswer answer, String verb) {
    if (SENTENCES.containsKey(answer.code())) {
      return SENTENCES.get(answer.code());
    }
    if (answer.status() == 403) {
      String needed = PERMISSIONS.getOrDefault(verb, "permissions for this bucket");
      return "permission denied; the credentials need " + needed;
    }
    if (answer.status() == 400 && !answer.isNamed()) {
      // The answer to a HEAD request has no code word.
      return "the server refused it (HTTP 400); check that the credentials have not expired, and the"
          + " region";
    }
    return answer.sentence();
  }
}
