package colonnade.spark.table;

import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.GeneralScalarExpression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Spark's expressions as JSON values, word for word; the planner knows what they mean. */
public final class ExpressionTree {
  private static final Map<String, Object> UNKNOWN = Map.of("op", "", "args", List.of());

  private ExpressionTree() {}

  /** Each expression as a tree. */
  public static List<Map<String, Object>> of(Expression[] expressions) {
    return Arrays.stream(expressions).map(ExpressionTree::of).toList();
  }

  /** An expression as a tree. */
  public static Map<String, Object> of(Expression expression) {
    if (expression instanceof NamedReference reference) {
      return Map.of("column", List.of(reference.fieldNames()));
    }
    if (expression instanceof Literal<?> literal) {
      return literal(literal);
    }
    if (expression instanceof GeneralScalarExpression scalar) {
      return Map.of("op", scalar.name(), "args", of(scalar.children()));
    }
    return UNKNOWN;
  }

  /** Whether a part is a NULL of bytes, which Spark 4.1 fails to write as text. */
  public static boolean holdsNullBytes(Expression expression) {
    return expression instanceof Literal<?> literal
        ? literal.value() == null && literal.dataType() instanceof BinaryType
        : Arrays.stream(expression.children()).anyMatch(ExpressionTree::holdsNullBytes);
  }

  private static Map<String, Object> literal(Literal<?> literal) {
    if (literal.value() instanceof UTF8String text && !text.isValid()) {
      return UNKNOWN; // it would change on its way through JSON
    }
    Map<String, Object> tree = new HashMap<>();
    tree.put("type", literal.dataType().simpleString());
    tree.put("value", literal.value() == null ? null : text(literal.value()));
    return tree;
  }

  private static String text(Object value) {
    if (value instanceof byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }
    if (value instanceof Float number) {
      return Double.toString(number); // the same number, as a column's values are compared
    }
    if (value instanceof Decimal decimal) {
      return decimal.toJavaBigDecimal().toPlainString();
    }
    return value.toString();
  }
}
