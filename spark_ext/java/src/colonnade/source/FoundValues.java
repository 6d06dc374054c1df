package colonnade.source;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.LiteralValue;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

/**
 * Filters by values that Spark found while a query ran, which may be all keys of a large table.
 *
 * <p>The planner and every task compare each value with bounds, so many are told by the outermost.
 */
final class FoundValues {
  private static final int MANY = 1_000;

  private FoundValues() {}

  /** Predicates that hold wherever this one does: itself, if it does not name many values. */
  static Stream<Predicate> of(Predicate found) {
    Expression[] parts = found.children();
    if (!found.name().equals("IN") || parts.length <= MANY) {
      return Stream.of(found);
    }
    DataType type = ((Literal<?>) parts[1]).dataType();
    if (type instanceof FloatType || type instanceof DoubleType) {
      return Stream.empty(); // NaN has no place among the values
    }
    @SuppressWarnings("unchecked") // Scala's orderings are Java's
    Comparator<Object> order = TypeUtils.getInterpretedOrdering(type);
    List<Object> values =
        Arrays.stream(parts)
            .skip(1)
            .map(part -> (Object) ((Literal<?>) part).value())
            .filter(Objects::nonNull)
            .toList();
    return values.isEmpty()
        ? Stream.of(found)
        : Stream.of(
            compared(parts[0], ">=", new LiteralValue<>(Collections.min(values, order), type)),
            compared(parts[0], "<=", new LiteralValue<>(Collections.max(values, order), type)));
  }

  private static Predicate compared(Expression column, String operator, Expression value) {
    return new Predicate(operator, new Expression[] {column, value});
  }
}
