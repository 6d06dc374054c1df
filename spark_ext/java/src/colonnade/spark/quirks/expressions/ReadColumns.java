package colonnade.spark.quirks.expressions;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that an expression reads, found in its SQL text.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code UnresolvedAttribute}. Within a lambda function, the parser
 * makes every name a {@code UnresolvedNamedLambdaVariable}, also the name of a column.
 */
public final class ReadColumns {
  private ReadColumns() {}

  /**
   * Returns the columns, out of those with the names {@code known}, in any case. A variable of a
   * lambda function counts as a column if it has the name of one.
   */
  public static Set<String> of(String sql, Set<String> known) {
    Set<String> found = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Set<String> inAnyCase = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    inAnyCase.addAll(known);
    collect(CatalystSqlParser$.MODULE$.parseExpression(sql), inAnyCase, found);
    return found;
  }

  private static void collect(Expression expression, Set<String> known, Set<String> found) {
    if (expression instanceof UnresolvedAttribute column) {
      add(column.nameParts(), known, found);
    } else if (expression instanceof UnresolvedNamedLambdaVariable variable) {
      add(variable.nameParts(), known, found);
    }
    for (Expression child : CollectionConverters.asJava(expression.children())) {
      collect(child, known, found);
    }
  }

  /** Adds the first part of a name that is a column: a table's name may precede it. */
  private static void add(Seq<String> name, Set<String> known, Set<String> found) {
    List<String> parts = CollectionConverters.asJava(name);
    parts.stream().filter(known::contains).findFirst().ifPresent(found::add);
  }
}
