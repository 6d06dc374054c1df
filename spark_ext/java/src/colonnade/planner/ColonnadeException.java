package colonnade.planner;

import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import scala.Option;
import scala.collection.immutable.Map$;

/**
 * What Colonnade refuses on the driver, as users see it: {@code [code] sentence}.
 *
 * <p>An AnalysisException, because PySpark shows that one as its message alone, on classic Spark
 * and through Connect, without a Java stack. Spark's interfaces declare no checked exceptions, so
 * code that implements them ends with {@code throw ColonnadeException.unchecked(...)}.
 */
public final class ColonnadeException extends AnalysisException {
  private static final String NO_SUCH_TABLE = "TABLE_OR_VIEW_NOT_FOUND";

  private final String code;

  /** {@code code} as in manifests/errors.py; {@code sentence} names the thing and what to do. */
  public ColonnadeException(String code, String sentence) {
    this(code, sentence, null);
  }

  public ColonnadeException(String code, String sentence, Throwable cause) {
    this(code, "[" + code + "] " + sentence, cause, code);
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

  /** Returns the error with Spark's own condition for a missing table, on which Spark goes on. */
  public ColonnadeException asNoSuchTable() {
    return new ColonnadeException(code, getMessage(), this, NO_SUCH_TABLE);
  }

  /** Whether Spark sees in this that a table is not there. */
  public boolean isNoSuchTable() {
    return NO_SUCH_TABLE.equals(getCondition());
  }

  /** The stable code, such as {@code COLONNADE_NOT_FOUND}. */
  public String code() {
    return code;
  }

  /** Throws a refusal where no checked exception may be declared. Never returns. */
  public static RuntimeException unchecked(String code, String sentence) {
    return new ColonnadeException(code, sentence).unchecked();
  }

  /** Throws this where no checked exception may be declared. Never returns. */
  public RuntimeException unchecked() {
    throw ColonnadeException.<RuntimeException>disguised(this);
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> E disguised(Throwable error) throws E {
    throw (E) error;
  }
}
