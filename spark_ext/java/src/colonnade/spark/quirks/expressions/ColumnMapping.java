package colonnade.spark.quirks.expressions;

import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * Replaces each column of an expression by another expression.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code AttributeReference}.
 */
public abstract class ColumnMapping extends AbstractPartialFunction<Expression, Expression> {
  /** Returns the expression with the columns of these ids replaced. */
  public static Expression in(Expression expression, Map<ExprId, ? extends Expression> columns) {
    return expression.transformUp(
        new ColumnMapping() {
          @Override
          public Expression column(AttributeReference column) {
            Expression other = columns.get(column.exprId());
            return other == null ? column : other;
          }
        });
  }

  /** Returns the place of a column in rows. Spark names a column as the text does, in any case. */
  public static int place(StructType rows, String name) {
    String[] names = rows.fieldNames();
    return IntStream.range(0, names.length)
        .filter(at -> names[at].equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow();
  }

  public abstract Expression column(AttributeReference column);

  @Override
  public boolean isDefinedAt(Expression expression) {
    return expression instanceof AttributeReference;
  }

  @Override
  @SuppressWarnings("unchecked") // Scala's B is a supertype of Expression, which Java cannot say
  public <A extends Expression, B> B applyOrElse(A expression, Function1<A, B> otherwise) {
    return expression instanceof AttributeReference reference
        ? (B) column(reference)
        : otherwise.apply(expression);
  }
}
