package colonnade.spark.scan;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.LiteralValue;
import org.apache.spark.sql.connector.expressions.filter.And;
import org.apache.spark.sql.connector.expressions.filter.Or;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

/**
 * Filters by values that Spark found while a query ran. These may be all keys of a large table.
 *
 * <p>The planner and every task compare each value with bounds, so a long list of values becomes a
 * few ranges.
 */
final class FoundValues {
  private static final int MANY = 1_000;
  private static final int RANGES = 128;

  private FoundValues() {}

  /**
   * Returns a predicate that holds wherever {@code found} holds. It is {@code found} itself unless
   * that lists many values. Returns an empty stream if no such predicate is useful.
   */
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
            .sorted(order)
            .toList();
    return values.isEmpty()
        ? Stream.empty()
        : Stream.of(among(values, RANGES, value -> new LiteralValue<>(value, type), parts[0]));
  }

  /**
   * Returns the condition that a column is in one of several ranges with equally many values each.
   */
  private static Predicate among(
      List<Object> sorted, int ranges, Function<Object, Expression> literal, Expression column) {
    int size = sorted.size();
    if (ranges == 1 || size == 1) {
      return new And(
          compared(column, ">=", literal.apply(sorted.get(0))),
          compared(column, "<=", literal.apply(sorted.get(size - 1))));
    }
    return new Or(
        among(sorted.subList(0, size / 2), ranges / 2, literal, column),
        among(sorted.subList(size / 2, size), ranges / 2, literal, column));
  }

  private static Predicate compared(Expression column, String operator, Expression value) {
    return new Predicate(operator, new Expression[] {column, value});
  }
}
