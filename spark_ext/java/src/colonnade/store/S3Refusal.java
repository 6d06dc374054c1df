package colonnade.store;

import static java.util.Map.entry;

import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

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

  private static final Pattern PLAIN_WORD = Pattern.compile("[A-Za-z0-9]{1,60}");

  private S3Refusal() {}

  /** Returns the reason of an error that has an answer of S3, for an object that was not so used. */
  static Optional<String> reason(Throwable error, String verb) {
    try {
      int status = (int) ask(error, "statusCode");
      Object details = ask(error, "awsErrorDetails");
      Object code = details == null ? "" : ask(details, "errorCode");
      return Optional.of(reason(status, String.valueOf(code), verb));
    } catch (ReflectiveOperationException other) {
      return Optional.empty(); // An error of another kind has no such methods.
    }
  }

  private static Object ask(Object answered, String method) throws ReflectiveOperationException {
    return answered.getClass().getMethod(method).invoke(answered);
  }

  private static String reason(int status, String code, String verb) {
    if (SENTENCES.containsKey(code)) {
      return SENTENCES.get(code);
    }
    if (status == 403) {
      String needed = PERMISSIONS.getOrDefault(verb, "permissions for this bucket");
      return "permission denied; the credentials need " + needed;
    }
    if (status == 429 || status >= 500) {
      return "the server is busy or has failed (HTTP " + status + "); run this again";
    }
    boolean named = PLAIN_WORD.matcher(code).matches() && !code.equals("null");
    if (status == 400 && !named) {
      // The answer to a HEAD request has no code word.
      return "the server refused it (HTTP 400); check that the credentials have not expired, and the"
          + " region";
    }
    return "the server refused it (HTTP " + status + (named ? ", " + code : "") + ")";
  }
}
