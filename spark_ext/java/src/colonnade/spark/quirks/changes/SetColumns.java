package colonnade.spark.quirks.changes;

import colonnade.spark.table.TableAtEpoch;
import colonnade.write.columns.RewrittenColumns;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.optimizer.ComputeCurrentTime$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that an UPDATE or MERGE sets, taken from its analyzed plan: the values with all casts
 * and checks of lengths and NULL, which rows get them, and the CHECK constraints.
 *
 * <p>Seen on Spark 4.1 and 4.3: the query of {@code WriteDelta} is a {@code Filter} of the
 * constraints, if there are any, over the new rows. Those are a {@code Project} for an UPDATE, and
 * {@code MergeRows} for a MERGE.
 */
public abstract class SetColumns implements AutoCloseable {
  static final String HANDLER = "handler";

  /** A planned statement that may write only the columns that it sets, instead of whole rows. */
  public interface Writer {
    /** Whether the statement may write only the columns that it sets. */
    boolean mayReplace();

    /**
     * Does the statement by replacing columns, and commits it. Changes nothing and returns false if
     * that would not write less, or if a concurrent writer has changed the columns.
     */
    boolean replace(SetColumns columns);
  }

  final WriteDelta statement;
  final DataSourceV2Relation relation;
  private final List<Expression> constraints;

  SetColumns(
      WriteDelta statement, DataSourceV2Relation relation, List<Expression> constraints) {
    this.statement = statement;
    this.relation = relation;
    this.constraints = constraints;
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
    if (rows instanceof MergeRows merge) {
      return MergedColumns.of(statement, constraints, merge).map(each -> each);
    }
    return rows instanceof Project project
        ? UpdatedColumns.of(statement, constraints, project).map(each -> each)
        : Optional.empty();
  }

  static List<Expression> conjuncts(Expression condition) {
    List<Expression> parts = new ArrayList<>();
    if (condition instanceof And and) {
      parts.addAll(conjuncts(and.left()));
      parts.addAll(conjuncts(and.right()));
    } else {
      parts.add(condition);
    }
    return parts;
  }

  /** Returns the set columns, in the order of the table. */
  abstract List<Attribute> columns();

  /** Whether the statement changes all rows. */
  public abstract boolean isOfAllRows();

  /** Returns how many columns of the table must be read to find the changed rows. */
  public abstract int reads();

  /**
   * Runs a query that counts the rows to change by RowSet. Omits RowSets without such rows.
   *
   * @param table only these RowSets of the table
   */
  public abstract Map<Long, Long> count(TableAtEpoch table);

  /** Whether {@link #count} has evaluated the statement, which must not be evaluated again. */
  public abstract boolean isEvaluated();

  /**
   * Has tasks write the columns of RowSets, except of those whose new values are too wide.
   *
   * @param table these RowSets of the table, each read by one task
   * @param rowsets their ids
   * @param job the job of {@link colonnade.write.columns.ColumnRewrite}
   * @param shapes the RowSets, as {@link colonnade.write.columns.ColumnRewrite} takes them
   */
  public abstract RewrittenColumns write(
      TableAtEpoch table,
      List<Long> rowsets,
      String job,
      String shapes,
      Map<String, String> hadoopConf);

  /** Whether the statement changes anything besides the columns of the RowSets that were written. */
  public abstract boolean changesMore(List<Long> others);

  /**
   * Does the rest of the statement as Spark writes whole rows, by another operation.
   *
   * @param table the RowSets in which rows move
   * @param others their ids
   */
  public abstract void run(
      SupportsRowLevelOperations table, List<Long> others, RowLevelOperation operation);

  /** Forgets what {@link #count} has found. */
  @Override
  public void close() {}

  /** Returns the names of the set columns, in the order of the table. */
  public List<String> names() {
    return columns().stream().map(Attribute::name).toList();
  }

  /**
   * Returns a plan that fails if a changed row does not meet a constraint that reads a set column.
   *
   * @param changed which rows of the plan change
   */
  LogicalPlan checked(LogicalPlan plan, Expression changed, Set<ExprId> set) {
    for (Expression constraint : constraints) {
      if (reads(constraint, set)) {
        plan = new Filter(new If(changed, constraint, Literal.TrueLiteral()), plan);
      }
    }
    return plan;
  }

  private static boolean reads(Expression expression, Set<ExprId> columns) {
    return CollectionConverters.asJava(expression.references().toSeq()).stream()
        .anyMatch(each -> columns.contains(each.exprId()));
  }

  /** Returns the columns of the table itself, by the relation that the statement reads. */
  static List<Attribute> own(DataSourceV2Relation relation) {
    RowLevelOperationTable table = (RowLevelOperationTable) relation.table();
    Set<String> names = Set.of(((TableAtEpoch) table.table()).schema().fieldNames());
    List<Attribute> columns = new ArrayList<>();
    for (Attribute each : CollectionConverters.asJava(relation.output())) {
      if (names.contains(each.name())) {
        columns.add(each);
      }
    }
    return columns;
  }

  /** Returns the handler of the rows that the statement reads. */
  Attribute handler() {
    return CollectionConverters.asJava(relation.output()).stream()
        .filter(each -> each.name().equals(TableAtEpoch.ROW_HANDLER))
        .findFirst()
        .orElseThrow();
  }

  static boolean isSame(Expression value, Attribute column) {
    return value instanceof Attribute read && read.exprId().equals(column.exprId());
  }

  static Set<ExprId> ids(List<? extends NamedExpression> columns) {
    Set<ExprId> ids = new HashSet<>();
    columns.forEach(each -> ids.add(each.exprId()));
    return ids;
  }

  /** Returns a relation without a catalog, from which Spark would load the whole table anew. */
  static DataSourceV2Relation pinned(DataSourceV2Relation relation, Table table) {
    return relation.copy(
        table,
        relation.output(),
        Option.empty(),
        Option.empty(),
        relation.options(),
        relation.timeTravelSpec());
  }

  /** Returns a relation of another table. */
  static DataSourceV2Relation with(DataSourceV2Relation relation, Table table) {
    return relation.copy(
        table,
        relation.output(),
        relation.catalog(),
        relation.identifier(),
        relation.options(),
        relation.timeTravelSpec());
  }

  static Dataset<Row> query(LogicalPlan plan) {
    return Dataset.ofRows(SparkSession.active(), plan);
  }

  static Alias alias(Expression value, String name, ExprId id) {
    return new Alias(value, name, id, seq(List.of()), Option.empty(), seq(List.of()));
  }

  static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }
}
