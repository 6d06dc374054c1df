package colonnade.spark.quirks.session;

import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.NamedParameterContext;
import org.apache.spark.sql.catalyst.parser.ParameterContext;
import org.apache.spark.sql.catalyst.parser.PositionalParameterContext;
import org.apache.spark.sql.types.NumericType;
import scala.jdk.javaapi.OptionConverters;

/**
 * The values of a statement's parameters, as SQL. Spark finds the markers of parameters by its own
 * grammar, and so only in statements that it knows.
 *
 * <p>Seen on Spark 4.1 and 4.3: a parser gets the values as one of two kinds of {@code
 * ParameterContext}, whose expressions write themselves as SQL.
 *
 * @param named returns the value of a name, as of {@code :name}
 * @param at returns the value of a number from 0, as of the first {@code ?}
 */
public record StatementParameters(
    Function<String, Optional<String>> named, IntFunction<Optional<String>> at) {
  /** Of a statement without parameters. */
  public static final StatementParameters NONE =
      new StatementParameters(name -> Optional.empty(), number -> Optional.empty());

  static StatementParameters of(ParameterContext context) {
    if (context instanceof NamedParameterContext all) {
      return new StatementParameters(
          name -> OptionConverters.toJava(all.params().get(name)).map(StatementParameters::written),
          NONE.at());
    } else if (context instanceof PositionalParameterContext all) {
      return new StatementParameters(
          NONE.named(),
          number -> number < all.params().size()
              ? Optional.of(written(all.params().apply(number)))
              : Optional.empty());
    }
    return NONE;
  }

  /** Writes a number without the sign of its type, as users write it. */
  private static String written(Expression value) {
    boolean plain =
        value instanceof Literal literal
            && literal.value() != null
            && literal.dataType() instanceof NumericType;
    return plain ? ((Literal) value).value().toString() : value.sql();
  }
}
