package colonnade.spark.quirks.session;

import java.lang.reflect.Field;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.ParameterContext;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkSqlParser;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * A parser that reads each statement before the other parsers of a session do, and leaves to them
 * what it does not know. Parsers of other extensions, such as Delta's, take every statement in their
 * words, whatever table it names. So this one has to be the outermost.
 *
 * <p>Seen on Spark 4.1 and 4.3: the parser that is injected last is the outermost. A session of
 * PySpark first applies the extensions of the setting, and then those that jars offer. A builder of
 * the JVM does so in the other order, and {@link #askAgain} makes it come back. A session keeps its
 * parser in the final field {@code SessionState.sqlParser}. {@code ParserInterface} has more methods
 * in each version. Those that 4.1 does not have come from {@code SparkSqlParser}.
 */
public final class OutermostParser extends SparkSqlParser {
  private static final String EXTENSIONS = "spark.sql.extensions";

  private final ParserInterface others;
  private final Words words;

  /**
   * Statements that no other parser should read.
   *
   * @param begin whether a text begins as one of them does
   * @param known returns the statement that a text with the values of its parameters means in
   *     Spark's words; nothing for other texts
   * @param refuseUnknown may refuse a text that none of the other parsers knows
   */
  public record Words(
      Predicate<String> begin,
      BiFunction<String, StatementParameters, Optional<String>> known,
      Consumer<String> refuseUnknown) {}

  private interface Parse<T> {
    T from(String sql) throws ParseException;
  }

  /** Creates a parser that asks {@code others} about what is not among {@code words}. */
  public OutermostParser(ParserInterface others, Words words) {
    this.others = others;
    this.words = words;
  }

  /** Whether the session of this thread asks such a parser first. */
  public static boolean isInUse() {
    return SparkSession.active().sessionState().sqlParser() instanceof OutermostParser;
  }

  /**
   * Makes the session of this thread ask such a parser first from now on.
   *
   * @throws ReflectiveOperationException if this version of Spark keeps its parser elsewhere
   */
  public static void use(Words words) throws ReflectiveOperationException {
    SparkSession session = SparkSession.active();
    synchronized (session) {
      if (!isInUse()) {
        SessionState state = session.sessionState();
        Field field = SessionState.class.getDeclaredField("sqlParser");
        field.setAccessible(true);
        field.set(state, new OutermostParser(state.sqlParser(), words));
      }
    }
  }

  /** Has the builder of a session apply an extension again, after all others. */
  public static void askAgain(String extension) {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    if (context.isDefined()) {
      String others = context.get().conf().get(EXTENSIONS, "");
      if (!others.isEmpty() && !others.endsWith(extension)) {
        context.get().conf().set(EXTENSIONS, others + "," + extension);
      }
    }
  }

  @Override
  public LogicalPlan parsePlan(String sql) {
    return plan(sql, StatementParameters.NONE, others::parsePlan);
  }

  @Override
  public LogicalPlan parsePlanWithParameters(String sql, ParameterContext parameters) {
    return plan(
        sql,
        StatementParameters.of(parameters),
        text -> others.parsePlanWithParameters(text, parameters));
  }

  private LogicalPlan plan(
      String sql, StatementParameters parameters, Parse<LogicalPlan> parse) {
    if (!words.begin().test(sql) || !RuleSwitch.isOn(OutermostParser.class)) {
      return others(sql, parse);
    }
    Optional<String> known = words.known().apply(sql, parameters);
    try {
      return known.isPresent() ? others.parsePlan(known.get()) : parse.from(sql);
    } catch (ParseException error) {
      // Behind another parser, an error of ours would become one of that parser.
      if (SparkSession.active().sessionState().sqlParser() == this) {
        words.refuseUnknown().accept(sql);
      }
      Platform.throwException(error); // Spark's parser throws it without a declaration
      return null;
    }
  }

  private <T> T others(String sql, Parse<T> parse) {
    try {
      return parse.from(sql);
    } catch (ParseException error) {
      Platform.throwException(error); // Spark's parser throws it without a declaration
      return null;
    }
  }

  @Override
  public LogicalPlan parseQuery(String sql) {
    return others(sql, others::parseQuery);
  }

  @Override
  public Expression parseExpression(String sql) {
    return others(sql, others::parseExpression);
  }

  @Override
  public TableIdentifier parseTableIdentifier(String sql) {
    return others(sql, others::parseTableIdentifier);
  }

  @Override
  public FunctionIdentifier parseFunctionIdentifier(String sql) {
    return others(sql, others::parseFunctionIdentifier);
  }

  @Override
  public Seq<String> parseMultipartIdentifier(String sql) {
    return others(sql, others::parseMultipartIdentifier);
  }

  @Override
  public StructType parseTableSchema(String sql) {
    return others(sql, others::parseTableSchema);
  }

  @Override
  public DataType parseDataType(String sql) {
    return others(sql, others::parseDataType);
  }

  @Override
  public StructType parseRoutineParam(String sql) {
    return others(sql, others::parseRoutineParam);
  }
}
