package colonnade.store;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.QueryContext;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Map$;

/**
 * Creates the errors of a task that users see, with a condition, a code and one sentence.
 *
 * <p>Spark shows a task's exception without "Job aborted" around it if the exception has a
 * condition. It must have a class of Spark, because the driver thread that receives it may not know
 * the classes of this jar. Errors on the driver have the same form.
 */
public final class TaskFailure {
  private static final Pattern CODED = Pattern.compile("\\[(COLONNADE_[A-Z_]+)] .*", Pattern.DOTALL);

  private TaskFailure() {}

  /**
   * Creates an error. {@code condition} may be one of Spark's own; {@code code} begins the message.
   */
  public static RuntimeException of(String condition, String code, String sentence) {
    return thrown(condition, "[" + code + "] " + ShortText.of(sentence), null);
  }

  /**
   * Converts an error of reading or writing objects. Its code becomes the condition, if it has a
   * code.
   */
  public static IOException of(IOException error) {
    Matcher coded = CODED.matcher(String.valueOf(error.getMessage()));
    if (coded.matches()) {
      throw thrown(coded.group(1), error.getMessage(), error);
    }
    return error;
  }

  private static RuntimeException thrown(String condition, String message, Throwable cause) {
    Platform.throwException( // it may be thrown, although it is checked and not declared
        new AnalysisException(
            message,
            Option.empty(),
            Option.empty(),
            Option.apply(cause),
            Option.apply(condition),
            Map$.MODULE$.empty(),
            new QueryContext[0]));
    return null;
  }
}
