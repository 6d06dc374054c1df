package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.RunningStatement;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.util.RowDeltaUtils;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that an UPDATE or MERGE sets in the rows that it keeps. Spark passes a source whole
 * rows, so this is read from the analyzed plan of the statement that runs in this thread.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteDelta} over a {@code Project} for an UPDATE, and over
 * {@code MergeRows} for a MERGE, whose rows begin with the number of their operation.
 */
public final class AssignedColumns {
  private AssignedColumns() {}

  /**
   * Whether the running statement may set a column of its table. A column that keeps its value in
   * each row is not set.
   */
  public static boolean mayHave(String column) {
    return RunningStatement.find(WriteDelta.class)
        .map(delta -> !keeps(delta.query(), column))
        .orElse(true);
  }

  private static boolean keeps(LogicalPlan query, String column) {
    List<Attribute> shown =
        CollectionConverters.asJava(query.output()).stream()
            .filter(each -> each.name().equals(column))
            .toList();
    return !shown.isEmpty() && shown.stream().allMatch(each -> isKept(query, each, column));
  }

  /** Whether a value in the rows of a plan is that of the table's own column. */
  private static boolean isKept(LogicalPlan plan, Expression value, String column) {
    if (!(value instanceof Attribute read)) {
      return false;
    }
    if (plan instanceof DataSourceV2Relation relation) {
      return relation.table() instanceof RowLevelOperationTable && read.name().equals(column);
    }
    if (plan instanceof Project project) {
      return CollectionConverters.asJava(project.projectList()).stream()
          .filter(each -> each.exprId().equals(read.exprId()))
          .allMatch(each -> isKept(project.child(), definition(each), column));
    }
    if (plan instanceof MergeRows merge) {
      return isKeptByMerge(merge, read, column);
    }
    return CollectionConverters.asJava(plan.children()).stream()
        .anyMatch(each -> each.outputSet().contains(read) && isKept(each, read, column));
  }

  private static Expression definition(NamedExpression named) {
    return named instanceof Alias alias ? alias.child() : (Expression) named;
  }

  private static boolean isKeptByMerge(MergeRows merge, Attribute read, String column) {
    List<Attribute> output = CollectionConverters.asJava(merge.output());
    int at = 0;
    while (!output.get(at).exprId().equals(read.exprId())) {
      at++;
    }
    for (MergeRows.Instruction each : CollectionConverters.asJava(merge.instructions())) {
      for (Seq<Expression> row : CollectionConverters.asJava(each.outputs())) {
        if (isUpdate(row.head()) && !isKept(merge.child(), row.apply(at), column)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isUpdate(Expression operation) {
    return operation instanceof Literal number
        && number.value().equals(RowDeltaUtils.UPDATE_OPERATION());
  }
}
