package colonnade.spark.table;

import colonnade.planner.messages.Clauses.Tree;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.GeneralScalarExpression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Spark's expressions in messages, word for word; the planner knows what they mean. */
public final class ExpressionTree {
  private static final Tree UNKNOWN = new Tree("", List.of(), null, null, null);

  private ExpressionTree() {}

  /** Each expression as a tree. */
  public static List<Tree> of(Expression[] expressions) {
    return Arrays.stream(expressions).map(ExpressionTree::of).toList();
  }

  /** An expression as a tree. */
  public static Tree of(Expression expression) {
    if (expression instanceof NamedReference reference) {
      return new Tree(null, null, List.of(reference.fieldNames()), null, null);
    }
    if (expression instanceof Literal<?> literal) {
      return literal(literal);
    }
    if (expression instanceof GeneralScalarExpression scalar) {
      return new Tree(scalar.name(), of(scalar.children()), null, null, null);
    }
    return UNKNOWN;
  }

  /** Whether a part is a NULL of bytes, which Spark 4.1 fails to write as text. */
  public static boolean holdsNullBytes(Expression expression) {
    return expression instanceof Literal<?> literal
        ? literal.value() == null && literal.dataType() instanceof BinaryType
        : Arrays.stream(expression.children()).anyMatch(ExpressionTree::holdsNullBytes);
  }

  private static Tree literal(Literal<?> literal) {
    if (literal.value() instanceof UTF8String text && !text.isValid()) {
      return UNKNOWN; // it would change on its way through JSON
    }
    String value = literal.value() == null ? null : text(literal.value());
    return new Tree(null, null, null, literal.dataType().simpleString(), value);
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
