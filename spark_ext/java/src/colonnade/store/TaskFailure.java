package colonnade.store;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import scala.Option;
import scala.collection.immutable.Map$;

/**
 * Makes the error that users see of a fault in a task: its condition, its code and one sentence.
 *
 * <p>Spark shows an exception of a task as it is, without "Job aborted" around it, where that has a
 * condition. It must be of a class of Spark's: the thread of the driver that receives it from an
 * executor may not know the classes of this jar. Errors on the driver are of the same kind.
 */
public final class TaskFailure {
  private static final Pattern CODED = Pattern.compile("\\[(COLONNADE_[A-Z_]+)] .*", Pattern.DOTALL);

  private TaskFailure() {}

  /** {@code condition} may be one of Spark's own; {@code code} begins the message. */
  public static RuntimeException of(String condition, String code, String sentence) {
    return thrown(condition, "[" + code + "] " + sentence, null);
  }

  /** An error of reading or writing objects: with its code as the condition, where it has one. */
  public static IOException of(IOException error) {
    Matcher coded = CODED.matcher(String.valueOf(error.getMessage()));
    if (coded.matches()) {
      throw thrown(coded.group(1), error.getMessage(), error);
    }
    return error;
  }

  private static RuntimeException thrown(String condition, String message, Throwable cause) {
    throw TaskFailure.<RuntimeException>disguised(
        new AnalysisException(
            message,
            Option.empty(),
            Option.empty(),
            Option.apply(cause),
            Option.apply(condition),
            Map$.MODULE$.empty(),
            new QueryContext[0]));
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> E disguised(Throwable error) throws E {
    throw (E) error;
  }
}
