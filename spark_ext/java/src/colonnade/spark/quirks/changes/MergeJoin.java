package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.RunningStatement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.IntegralType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The join of a MERGE that finds matching rows of its table. Spark does not pass it to a source,
 * so it is read from the analyzed plan of the statement that runs in this thread.
 *
 * <p>Spark runs a MERGE that only inserts as an append of the rows that an anti join with the table
 * leaves.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code Join} over a {@code DataSourceV2Relation} of a {@code
 * RowLevelOperationTable}, or {@code LeftAnti} over one of the table.
 */
public final class MergeJoin {
  private MergeJoin() {}

  /**
   * Returns the columns of {@code table} that the running MERGE, or append after an anti join,
   * compares with {@code =}. Returns nothing for another statement, and where no row can match.
   */
  public static Optional<List<String>> running(Table table) {
    return RunningStatement.plan().flatMap(plan -> find(plan, table));
  }

  private static Optional<List<String>> find(LogicalPlan plan, Table table) {
    if (plan instanceof Join join) {
      LogicalPlan target = target(join, table);
      if (target != null) {
        Option<Expression> condition = join.condition();
        if (condition.contains(Literal.FalseLiteral())) {
          return Optional.empty();
        }
        return Optional.of(
            condition.isDefined() ? compared(condition.get(), ids(target)) : List.of());
      }
    }
    for (LogicalPlan child : CollectionConverters.asJava(plan.children())) {
      Optional<List<String>> found = find(child, table);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /** Returns the relation of the table on one side of a join, or null. */
  private static LogicalPlan target(Join join, Table table) {
    if (join.joinType() == LeftAnti$.MODULE$) {
      return relation(join.right(), table);
    }
    LogicalPlan left = relation(join.left(), null);
    return left == null ? relation(join.right(), null) : left;
  }

  /**
   * Returns the relation of {@code table} below a plan. If {@code table} is null, returns the
   * relation of a row-level operation.
   */
  private static LogicalPlan relation(LogicalPlan plan, Table table) {
    if (plan instanceof DataSourceV2Relation relation) {
      Table found = relation.table();
      boolean sought = table == null ? found instanceof RowLevelOperationTable : found.equals(table);
      return sought ? relation : null;
    }
    List<LogicalPlan> children = CollectionConverters.asJava(plan.children());
    return children.size() == 1 ? relation(children.get(0), table) : null;
  }

  private static Set<ExprId> ids(LogicalPlan relation) {
    Set<ExprId> ids = new HashSet<>();
    for (Attribute attribute : CollectionConverters.asJava(relation.output())) {
      ids.add(attribute.exprId());
    }
    return ids;
  }

  private static List<String> compared(Expression condition, Set<ExprId> target) {
    List<String> names = new ArrayList<>();
    if (condition instanceof And and) {
      names.addAll(compared(and.left(), target));
      names.addAll(compared(and.right(), target));
    } else if (condition instanceof EqualTo equal) {
      add(names, equal.left(), equal.right(), target);
      add(names, equal.right(), equal.left(), target);
    }
    return names.stream().distinct().toList();
  }

  private static void add(
      List<String> names, Expression one, Expression other, Set<ExprId> target) {
    boolean outside =
        CollectionConverters.asJava(other.references().toSeq()).stream()
            .noneMatch(attribute -> target.contains(attribute.exprId()));
    if (outside && exact(one) instanceof Attribute column && target.contains(column.exprId())) {
      names.add(column.name());
    }
  }

  /** Strips casts that keep different integers different. */
  static Expression exact(Expression side) {
    return side instanceof Cast cast
            && cast.child().dataType() instanceof IntegralType
            && cast.dataType() instanceof IntegralType
            && cast.dataType().defaultSize() >= cast.child().dataType().defaultSize()
        ? exact(cast.child())
        : side;
  }
}
