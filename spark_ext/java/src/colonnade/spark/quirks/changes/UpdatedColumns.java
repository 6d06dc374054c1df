package colonnade.spark.quirks.changes;

import colonnade.spark.table.TableAtEpoch;
import colonnade.write.CountedRows;
import colonnade.write.columns.ColumnRewrite;
import colonnade.write.columns.RewrittenColumns;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that an UPDATE sets. Its values are computed where they are written.
 *
 * <p>Seen on Spark 4.1 and 4.3: a {@code Project} of the new rows, over a {@code Filter} of the
 * condition, over the relation.
 */
final class UpdatedColumns extends SetColumns {
  private final Expression condition;
  private final Map<Attribute, Alias> values;

  private UpdatedColumns(
      WriteDelta statement,
      DataSourceV2Relation relation,
      List<Expression> constraints,
      Expression condition,
      Map<Attribute, Alias> values) {
    super(statement, relation, constraints);
    this.condition = condition;
    this.values = values;
  }

  static Optional<UpdatedColumns> of(
      WriteDelta statement, List<Expression> constraints, Project rows) {
    if (rows.child() instanceof Filter filter
        && filter.child() instanceof DataSourceV2Relation relation
        && relation.table() instanceof RowLevelOperationTable) {
      Map<Attribute, Alias> values = values(rows, relation);
      Expression condition = filter.condition();
      boolean simple =
          isSimple(condition)
              && values.values().stream().allMatch(UpdatedColumns::isSimple)
              && constraints.stream().allMatch(UpdatedColumns::isSimple);
      if (simple && !values.isEmpty()) {
        return Optional.of(
            new UpdatedColumns(statement, relation, constraints, condition, values));
      }
    }
    return Optional.empty();
  }

  /** Returns the new values by the columns of the table. Other columns are passed on unchanged. */
  private static Map<Attribute, Alias> values(Project rows, DataSourceV2Relation relation) {
    Map<String, Attribute> columns = new HashMap<>();
    own(relation).forEach(each -> columns.put(each.name(), each));
    Map<Attribute, Alias> values = new HashMap<>();
    for (NamedExpression each : CollectionConverters.asJava(rows.projectList())) {
      Attribute column = columns.get(each.name());
      if (column != null && each instanceof Alias value && !isSame(value.child(), column)) {
        values.put(column, value);
      }
    }
    return values;
  }

  /** Whether an expression has the same value each time, and is evaluated only where it is needed. */
  private static boolean isSimple(Expression expression) {
    return expression.deterministic()
        && !(expression instanceof SubqueryExpression)
        && !(expression instanceof PythonUDF)
        && CollectionConverters.asJava(expression.children()).stream()
            .allMatch(UpdatedColumns::isSimple);
  }

  @Override
  List<Attribute> columns() {
    return own(relation).stream().filter(values::containsKey).toList();
  }

  @Override
  public boolean isOfAllRows() {
    return condition.equals(Literal.TrueLiteral());
  }

  @Override
  public int reads() {
    return condition.references().size();
  }

  @Override
  public Map<Long, Long> count(TableAtEpoch table) {
    NamedExpression handler = alias(handler(), HANDLER, NamedExpression.newExprId());
    LogicalPlan found = new Filter(condition, pinned(relation, table));
    LogicalPlan rows = new Project(seq(List.of(handler)), found);
    return CountedRows.of(query(rows).queryExecution().toRdd().toJavaRDD());
  }

  @Override
  public boolean isEvaluated() {
    return false;
  }

  @Override
  public RewrittenColumns write(
      TableAtEpoch table,
      List<Long> rowsets,
      String job,
      String shapes,
      Map<String, String> hadoopConf) {
    Dataset<Row> rows = query(newValues(pinned(relation, table)));
    ColumnRewrite rewrite = new ColumnRewrite(job, shapes, rows.schema(), hadoopConf, true);
    return rewrite.of(rows.queryExecution().toRdd().toJavaRDD());
  }

  /** Returns the query of {@link ColumnRewrite}, which fails if a constraint does not hold. */
  private LogicalPlan newValues(LogicalPlan rows) {
    boolean all = isOfAllRows();
    Expression met =
        all ? condition : new Coalesce(seq(List.of(condition, Literal.FalseLiteral())));
    Alias changed = alias(met, "changed", NamedExpression.newExprId());
    List<NamedExpression> list = new ArrayList<>();
    list.add(alias(handler(), HANDLER, NamedExpression.newExprId()));
    list.add(changed);
    List<Alias> set = new ArrayList<>();
    for (Attribute column : columns()) {
      Alias value = values.get(column);
      set.add(value);
      Expression kept = all ? value.child() : new If(met, value.child(), column);
      list.add(alias(kept, "value" + list.size(), value.exprId()));
    }
    return checked(new Project(seq(list), rows), changed.toAttribute(), ids(set));
  }

  @Override
  public boolean changesMore(List<Long> others) {
    return !others.isEmpty();
  }

  @Override
  public void run(
      SupportsRowLevelOperations table, List<Long> others, RowLevelOperation operation) {
    Table other = new RowLevelOperationTable(table, operation);
    LogicalPlan moved =
        (LogicalPlan)
            statement
                .withNewQuery(over(statement.query(), other))
                .withNewTable(with((DataSourceV2Relation) statement.table(), other));
    query(moved); // Spark runs commands at once
  }

  /** Returns a plan that reads another table. Requires: each node has one child. */
  private static LogicalPlan over(LogicalPlan plan, Table table) {
    if (plan instanceof DataSourceV2Relation relation) {
      return with(relation, table);
    }
    return plan.withNewChildren(seq(List.of(over(plan.children().head(), table))));
  }
}
