package colonnade.spark.quirks;

import colonnade.spark.table.TableAtEpoch;
import colonnade.write.ColumnRewrite;
import colonnade.write.CountedRows;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.optimizer.ComputeCurrentTime$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.functions;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that an UPDATE sets, taken from its analyzed plan: the values with all casts and
 * checks of lengths and NULL, the condition, and the CHECK constraints.
 *
 * <p>Seen on Spark 4.1 and 4.3: the query of {@code WriteDelta} is a {@code Project} of the new
 * rows over a {@code Filter} of the condition over the relation. If the table has constraints, a
 * {@code Filter} of them is above the {@code Project}.
 */
public final class SetColumns {
  private static final String HANDLER = "handler";

  /** A planned UPDATE that may write only the columns that it sets, instead of whole rows. */
  public interface Writer {
    /** Whether the statement may do so at all. */
    boolean mayReplace();

    /**
     * Does the statement by replacing columns, and commits it. Returns false, and has changed
     * nothing, if that would not write less, or if a concurrent writer has changed these columns.
     */
    boolean replace(SetColumns columns);
  }

  private final WriteDelta statement;
  private final DataSourceV2Relation relation;
  private final Expression condition;
  private final List<Expression> constraints;
  private final Map<Attribute, Alias> values;

  private SetColumns(
      WriteDelta statement,
      DataSourceV2Relation relation,
      Expression condition,
      List<Expression> constraints,
      Map<Attribute, Alias> values) {
    this.statement = statement;
    this.relation = relation;
    this.condition = condition;
    this.constraints = constraints;
    this.values = values;
  }

  /** Returns the columns that a statement sets; nothing for one whose rows must be written whole. */
  static Optional<SetColumns> of(WriteDelta analyzed) {
    // One statement has one current time, however many queries it runs.
    WriteDelta statement = (WriteDelta) ComputeCurrentTime$.MODULE$.apply(analyzed);
    LogicalPlan rows = statement.query();
    List<Expression> constraints = List.of();
    if (rows instanceof Filter checked) {
      constraints = conjuncts(checked.condition());
      rows = checked.child();
    }
    if (rows instanceof Project project
        && project.child() instanceof Filter filter
        && filter.child() instanceof DataSourceV2Relation relation
        && relation.table() instanceof RowLevelOperationTable) {
      Map<Attribute, Alias> values = values(project, relation);
      Expression condition = filter.condition();
      boolean simple =
          isSimple(condition)
              && values.values().stream().allMatch(SetColumns::isSimple)
              && constraints.stream().allMatch(SetColumns::isSimple);
      if (simple && !values.isEmpty()) {
        return Optional.of(new SetColumns(statement, relation, condition, constraints, values));
      }
    }
    return Optional.empty();
  }

  private static List<Expression> conjuncts(Expression condition) {
    List<Expression> parts = new ArrayList<>();
    if (condition instanceof And and) {
      parts.addAll(conjuncts(and.left()));
      parts.addAll(conjuncts(and.right()));
    } else {
      parts.add(condition);
    }
    return parts;
  }

  /** Returns the new values of the columns that the statement sets, by the columns of the table. */
  private static Map<Attribute, Alias> values(Project rows, DataSourceV2Relation relation) {
    Map<String, Attribute> columns = new HashMap<>();
    RowLevelOperationTable table = (RowLevelOperationTable) relation.table();
    Set<String> own = Set.of(((TableAtEpoch) table.table()).schema().fieldNames());
    for (Attribute each : CollectionConverters.asJava(relation.output())) {
      if (own.contains(each.name())) {
        columns.put(each.name(), each);
      }
    }
    Map<Attribute, Alias> values = new HashMap<>();
    for (NamedExpression each : CollectionConverters.asJava(rows.projectList())) {
      Attribute column = columns.get(each.name());
      if (column != null && each instanceof Alias value && !isSame(value.child(), column)) {
        values.put(column, value);
      }
    }
    return values;
  }

  private static boolean isSame(Expression value, Attribute column) {
    return value instanceof Attribute read && read.exprId().equals(column.exprId());
  }

  /** Whether an expression has the same value each time, and is evaluated only where it is needed. */
  private static boolean isSimple(Expression expression) {
    return expression.deterministic()
        && !(expression instanceof SubqueryExpression)
        && !(expression instanceof PythonUDF)
        && CollectionConverters.asJava(expression.children()).stream()
            .allMatch(SetColumns::isSimple);
  }

  /** Returns the names of the columns, in the order of the table. */
  public List<String> names() {
    return columns().stream().map(Attribute::name).toList();
  }

  private List<? extends Attribute> columns() {
    return CollectionConverters.asJava(relation.output()).stream()
        .filter(values::containsKey)
        .toList();
  }

  /** Whether the statement changes all rows. */
  public boolean isOfAllRows() {
    return condition.equals(Literal.TrueLiteral());
  }

  /** Returns how many columns the condition reads. */
  public int conditionReads() {
    return condition.references().size();
  }

  /** Runs a query that counts the rows to change by RowSet. Omits RowSets without such rows. */
  public Map<Long, Long> count(TableAtEpoch table) {
    NamedExpression handler = alias(handler(), HANDLER, NamedExpression.newExprId());
    LogicalPlan found = new Filter(condition, read(table));
    LogicalPlan rows = new Project(seq(List.of(handler)), found);
    return CountedRows.of(
        Dataset.ofRows(SparkSession.active(), rows).queryExecution().toRdd().toJavaRDD());
  }

  /**
   * Has tasks write the columns of RowSets, and returns their reports.
   *
   * @param table only these RowSets of the table
   * @param tasks how many tasks write
   * @param jobJson the job of {@link ColumnRewrite}
   * @param rowsetsJson the RowSets, as {@link ColumnRewrite} takes them
   */
  public List<String> write(
      TableAtEpoch table,
      int tasks,
      String jobJson,
      String rowsetsJson,
      Map<String, String> hadoopConf) {
    Dataset<Row> rows =
        Dataset.ofRows(SparkSession.active(), newValues(read(table)))
            .repartition(tasks, functions.shiftrightunsigned(functions.col(HANDLER), 32))
            .sortWithinPartitions(HANDLER);
    ColumnRewrite rewrite = new ColumnRewrite(jobJson, rowsetsJson, rows.schema(), hadoopConf);
    return rows.queryExecution().toRdd().toJavaRDD().mapPartitions(rewrite).collect();
  }

  /** Runs the statement as Spark plans it, by another operation, which reads another table. */
  public void run(SupportsRowLevelOperations table, RowLevelOperation operation) {
    Table other = new RowLevelOperationTable(table, operation);
    LogicalPlan moved =
        (LogicalPlan)
            statement
                .withNewQuery(over(statement.query(), other))
                .withNewTable(with((DataSourceV2Relation) statement.table(), other));
    Dataset.ofRows(SparkSession.active(), moved); // Spark runs commands at once
  }

  /** Returns a plan that reads another table. Requires: each node has one child. */
  private static LogicalPlan over(LogicalPlan plan, Table table) {
    if (plan instanceof DataSourceV2Relation relation) {
      return with(relation, table);
    }
    return plan.withNewChildren(seq(List.of(over(plan.children().head(), table))));
  }

  /** Returns a relation without a catalog: from a catalog, Spark would load the whole table anew. */
  private DataSourceV2Relation read(TableAtEpoch table) {
    return relation.copy(
        table,
        relation.output(),
        Option.empty(),
        Option.empty(),
        relation.options(),
        relation.timeTravelSpec());
  }

  private static DataSourceV2Relation with(DataSourceV2Relation relation, Table table) {
    return relation.copy(
        table,
        relation.output(),
        relation.catalog(),
        relation.identifier(),
        relation.options(),
        relation.timeTravelSpec());
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
    Set<ExprId> set = new HashSet<>();
    for (Attribute column : columns()) {
      Alias value = values.get(column);
      set.add(value.exprId());
      Expression kept = all ? value.child() : new If(met, value.child(), column);
      list.add(alias(kept, "value" + list.size(), value.exprId()));
    }
    LogicalPlan plan = new Project(seq(list), rows);
    for (Expression constraint : constraints) {
      if (reads(constraint, set)) {
        Expression allowed = new If(changed.toAttribute(), constraint, Literal.TrueLiteral());
        plan = new Filter(allowed, plan);
      }
    }
    return plan;
  }

  private static boolean reads(Expression expression, Set<ExprId> columns) {
    return CollectionConverters.asJava(expression.references().toSeq()).stream()
        .anyMatch(each -> columns.contains(each.exprId()));
  }

  private Attribute handler() {
    return CollectionConverters.asJava(relation.output()).stream()
        .filter(each -> each.name().equals(TableAtEpoch.ROW_HANDLER))
        .findFirst()
        .orElseThrow();
  }

  private static Alias alias(Expression value, String name, ExprId id) {
    return new Alias(value, name, id, seq(List.of()), Option.empty(), seq(List.of()));
  }

  private static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }
}
