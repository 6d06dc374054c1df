package colonnade.planner;

import colonnade.store.ShortText;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Map$;

/**
 * An error that Colonnade reports on the driver. Users see {@code [code] sentence}.
 *
 * <p>The class extends AnalysisException, because PySpark shows only the message of such an error
 * and no Java stack. This holds for classic Spark and for Connect. Spark's interfaces declare no
 * checked exceptions, so their implementations use {@code throw ColonnadeException.unchecked(...)}.
 */
public final class ColonnadeException extends AnalysisException {
  private static final String NO_SUCH_TABLE = "TABLE_OR_VIEW_NOT_FOUND";
  private static final String CONFLICT = "COLONNADE_CONFLICT";

  /** SQL's word for a statement that may succeed when it runs again, and for any other refusal. */
  private static final String SERIALIZATION_FAILURE = "40001";

  private static final String REFUSED = "42000";

  private final String code;

  /**
   * Creates an error. {@code code} is one of manifests/errors.py. {@code sentence} names the
   * affected thing and says what to do.
   */
  public ColonnadeException(String code, String sentence) {
    this(code, sentence, null);
  }

  public ColonnadeException(String code, String sentence, Throwable cause) {
    this(code, "[" + code + "] " + ShortText.of(sentence), cause, code);
  }

  private ColonnadeException(String code, String message, Throwable cause, String condition) {
    super(
        message,
        Option.empty(),
        Option.empty(),
        Option.apply(cause),
        Option.apply(condition),
        Map$.MODULE$.empty(),
        new QueryContext[0]);
    this.code = code;
  }

  /**
   * Returns this error with Spark's own condition for a missing table, which lets Spark continue
   * its search.
   */
  public ColonnadeException asNoSuchTable() {
    return new ColonnadeException(code, getMessage(), this, NO_SUCH_TABLE);
  }

  /** Returns this error. With a place in its statement, Spark would look for its own sentence. */
  @Override
  public AnalysisException withPosition(Origin origin) {
    return this;
  }

  /** Whether Spark treats this error as a missing table. */
  public boolean isNoSuchTable() {
    return NO_SUCH_TABLE.equals(getCondition());
  }

  /** Returns the stable code, such as {@code COLONNADE_NOT_FOUND}. */
  public String code() {
    return code;
  }

  /** Returns the SQLSTATE. To an error without one, spark-sql adds a Java stack. */
  @Override
  public String getSqlState() {
    return code.equals(CONFLICT) ? SERIALIZATION_FAILURE : REFUSED;
  }

  /** Returns the message without the code. */
  public String sentence() {
    String prefix = "[" + code + "] ";
    String message = getMessage();
    return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
  }

  /** Refuses a call. Throws the error of its sentence, as {@link #unchecked} does. */
  public static RuntimeException invalid(String sentence, Object... parts) {
    return unchecked("COLONNADE_INVALID_INPUT", sentence, parts);
  }

  /**
   * Throws an error where no checked exception may be declared. Never returns.
   *
   * @param sentence a format of {@link String#format} if there are {@code parts}, else the text
   */
  public static RuntimeException unchecked(String code, String sentence, Object... parts) {
    String text = parts.length == 0 ? sentence : String.format(sentence, parts);
    return new ColonnadeException(code, text).unchecked();
  }

  /** Throws this where no checked exception may be declared. Never returns. */
  public RuntimeException unchecked() {
    Platform.throwException(this);
    return null;
  }
}
