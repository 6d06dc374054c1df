package colonnade.spark.quirks.tables;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.connector.catalog.constraints.Check;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Literals that a constraint compares with char columns, padded with spaces like the stored values.
 *
 * <p>In a query Spark pads such a literal itself. It does not do so where it checks rows.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code BinaryComparison}, {@code In}, and the places of literals in
 * the text that was parsed.
 */
public final class CharComparisons {
  private final Map<String, Integer> lengths = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private final TreeMap<Integer, Integer> spaces = new TreeMap<>();

  private CharComparisons(StructType columns) {
    for (StructField field : columns.fields()) {
      if (field.dataType() instanceof CharType type) {
        lengths.put(field.name(), type.length());
      }
    }
  }

  /** Returns the constraints of a table with these columns, as Spark can check them. */
  public static Constraint[] padded(Constraint[] constraints, StructType columns) {
    Constraint[] padded = constraints.clone();
    for (int at = 0; at < padded.length; at++) {
      CharComparisons comparisons = new CharComparisons(columns);
      if (padded[at] instanceof Check check && !comparisons.lengths.isEmpty()) {
        padded[at] =
            Constraint.check(check.name())
                .predicateSql(comparisons.padded(check.predicateSql()))
                .enforced(check.enforced())
                .validationStatus(check.validationStatus())
                .build();
      }
    }
    return padded;
  }

  private String padded(String sql) {
    collect(CatalystSqlParser$.MODULE$.parseExpression(sql));
    StringBuilder text = new StringBuilder(sql);
    // From the last one on. The parser counts code points.
    spaces
        .descendingMap()
        .forEach((end, count) -> text.insert(sql.offsetByCodePoints(0, end), " ".repeat(count)));
    return text.toString();
  }

  private void collect(Expression expression) {
    List<Expression> children = CollectionConverters.asJava(expression.children());
    if (expression instanceof BinaryComparison || expression instanceof In) {
      int length = children.stream().mapToInt(this::length).max().orElse(0);
      children.forEach(each -> pad(each, length));
    }
    children.forEach(this::collect);
  }

  /** Returns the length of a char column, and 0 for anything else. */
  private int length(Expression operand) {
    if (operand instanceof UnresolvedAttribute column) {
      List<String> name = CollectionConverters.asJava(column.nameParts());
      return lengths.getOrDefault(name.get(name.size() - 1), 0);
    }
    return 0;
  }

  /** Records how many spaces a literal needs before its closing quote. */
  private void pad(Expression operand, int length) {
    if (operand instanceof Literal literal && literal.value() instanceof UTF8String value) {
      Option<Object> end = literal.origin().stopIndex();
      int missing = length - value.numChars();
      if (missing > 0 && end.isDefined()) {
        spaces.put((Integer) end.get(), missing);
      }
    }
  }
}
