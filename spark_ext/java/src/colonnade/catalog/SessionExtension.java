package colonnade.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.spark.quirks.reads.ChangesFunctions;
import colonnade.spark.quirks.rules.SparkRules;
import colonnade.spark.quirks.session.AnalyzerRules;
import colonnade.spark.quirks.session.OutermostParser;
import colonnade.spark.quirks.session.OwnCatalog;
import colonnade.spark.quirks.session.SparkVersion;
import colonnade.spark.quirks.session.StatementParameters;
import colonnade.spark.words.Maintenance;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import scala.Function2;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * The extension of sessions. Spark finds it in the jar by itself when it makes a session, and under
 * this name in {@code spark.sql.extensions}. {@link #use} gives it to a session that was made
 * before.
 */
public final class SessionExtension extends AbstractFunction1<SparkSessionExtensions, BoxedUnit>
    implements SparkSessionExtensionsProvider {
  private static final OutermostParser.Words WORDS =
      new OutermostParser.Words(
          Maintenance::begins, SessionExtension::call, Maintenance::refuseUnknown);

  private static final Function2<SparkSession, ParserInterface, ParserInterface> PARSER =
      (session, others) -> new OutermostParser(others, WORDS);

  /**
   * Gives everything to the sessions that Spark makes. Spark may ask twice, and the parser of the
   * second time is before those of the extensions between.
   */
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkVersion.require();
    OutermostParser.askAgain(SessionExtension.class.getName());
    boolean isFirst = inject(extensions);
    if (!isFirst) {
      extensions.injectParser(PARSER);
    }
    return BoxedUnit.UNIT;
  }

  /** Returns whether the session of this thread has the extension. */
  public static boolean isInUse() {
    return AnalyzerRules.areIn(SessionExtension::inject) && OutermostParser.isInUse();
  }

  /** Gives the extension to the session of this thread. It may have it already. */
  public static void use() {
    try {
      AnalyzerRules.add(SessionExtension::inject);
      ChangesFunctions.use();
      OutermostParser.use(WORDS);
    } catch (ReflectiveOperationException | RuntimeException error) {
      throw ColonnadeException.invalid(
          "This version of Spark does not let Colonnade extend a session that runs already ("
              + error
              + "): start Spark with --conf spark.sql.extensions="
              + SessionExtension.class.getName()
              + " and with Colonnade's jar among --jars.");
    }
  }

  private static Optional<String> call(String sql, StatementParameters parameters) {
    OwnCatalog.makeKnown();
    return Maintenance.call(sql, parameters);
  }

  /** Gives everything to new sessions, unless they have it. Returns whether they had it not. */
  private static boolean inject(SparkSessionExtensions extensions) {
    if (!AnalyzerRules.isFirst(extensions)) {
      return false;
    }
    extensions.injectParser(PARSER);
    SparkRules.extend(extensions);
    ChangesFunctions.inject(extensions);
    return true;
  }
}
