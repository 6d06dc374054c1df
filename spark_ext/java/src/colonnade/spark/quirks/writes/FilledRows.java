package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.quirks.expressions.ColumnMapping;
import colonnade.spark.quirks.expressions.ComputedExpression;
import colonnade.spark.table.GeneratedColumn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CheckInvariant;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.util.RowDeltaUtils;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows to write, with their generated columns computed. The columns keep their places.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckInvariant} in a {@code Filter} above the rows, and
 * {@code RowDeltaUtils} in rows that change a table.
 */
final class FilledRows {
  private final GeneratedColumn.Owner owner;
  private final Map<String, Integer> places;

  /**
   * @param owner the table
   * @param places where the rows have the columns of the table, by name in any case
   */
  FilledRows(GeneratedColumn.Owner owner, Map<String, Integer> places) {
    this.owner = owner;
    this.places = places;
  }

  /** Returns the rows of a query with computed columns. */
  LogicalPlan of(LogicalPlan query) {
    return of(query, rows -> rows);
  }

  /** Returns the rows of a query, which a function changes before the columns are computed. */
  LogicalPlan of(LogicalPlan query, UnaryOperator<LogicalPlan> before) {
    if (query instanceof Filter filter && checksRows(filter.condition())) {
      LogicalPlan rows = of(filter.child(), before);
      return new Filter(moved(filter.condition(), filter.child(), rows), rows);
    }
    LogicalPlan rows = before.apply(query);
    List<Attribute> given = CollectionConverters.asJava(rows.output());
    Map<String, Expression> row = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    places.forEach((name, at) -> row.put(name, given.get(at)));
    List<NamedExpression> list = new ArrayList<>(given);
    for (GeneratedColumn column : owner.generated()) {
      int at = places.get(column.column());
      Expression value =
          new ComputedExpression(owner.tableName(), column, owner.declared()).checked(row);
      list.set(at, named(unlessDeleted(value, given, at), given.get(at)));
    }
    return new Project(seq(list), rows);
  }

  /** Returns a condition on rows as a condition on rows of other columns in the same places. */
  private static Expression moved(Expression condition, LogicalPlan from, LogicalPlan to) {
    Map<ExprId, Expression> columns = new HashMap<>();
    for (int at = 0; at < from.output().size(); at++) {
      columns.put(from.output().apply(at).exprId(), to.output().apply(at));
    }
    return ColumnMapping.in(condition, columns);
  }

  /** Whether Spark has put the conditions of constraints here; they read the computed columns. */
  private static boolean checksRows(Expression condition) {
    return condition instanceof CheckInvariant
        || CollectionConverters.asJava(condition.children()).stream()
            .anyMatch(FilledRows::checksRows);
  }

  /** A row that only says which row to delete has no values. */
  private static Expression unlessDeleted(Expression value, List<Attribute> given, int at) {
    Attribute operation = given.get(0);
    if (!operation.name().equals(RowDeltaUtils.OPERATION_COLUMN())) {
      return value;
    }
    Expression deletes =
        new EqualTo(
            operation, Literal.create(RowDeltaUtils.DELETE_OPERATION(), operation.dataType()));
    return new If(deletes, given.get(at), value);
  }

  private static NamedExpression named(Expression value, Attribute as) {
    return new Alias(
        value,
        as.name(),
        NamedExpression$.MODULE$.newExprId(),
        seq(),
        Option.apply(GeneratedColumn.computed(as.metadata())),
        seq());
  }
}
