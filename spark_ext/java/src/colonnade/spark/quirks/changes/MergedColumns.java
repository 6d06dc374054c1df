package colonnade.spark.quirks.changes;

import colonnade.spark.table.TableAtEpoch;
import colonnade.write.columns.ColumnRewrite;
import colonnade.write.columns.RewrittenColumns;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GetStructField;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * The columns that a MERGE sets. The join of the statement runs once, with the few columns of the
 * table that the statement reads. What it does to each row is stored until the statement ends. So
 * the source is read once and each value is computed once.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code MergeRows} over a {@code Join}, over a {@code
 * DataSourceV2Relation} of a {@code RowLevelOperationTable}. Spark 4.3 adds a part to {@code
 * WriteDelta}, so it is copied by its parts.
 */
final class MergedColumns extends SetColumns {
  private static final JoinHint BROADCAST =
      new JoinHint(Option.apply(new HintInfo(Option.apply(BROADCAST$.MODULE$))), Option.empty());

  private final MergeOutput output;
  private final Map<Long, Long> updated = new HashMap<>();
  private Dataset<Row> found;
  private boolean insertsOrDeletes;

  private MergedColumns(
      WriteDelta statement,
      DataSourceV2Relation relation,
      List<Expression> constraints,
      MergeOutput output) {
    super(statement, relation, constraints);
    this.output = output;
  }

  static Optional<MergedColumns> of(
      WriteDelta statement, List<Expression> constraints, MergeRows merge) {
    List<DataSourceV2Relation> targets = new ArrayList<>();
    for (LogicalPlan leaf : CollectionConverters.asJava(merge.child().collectLeaves())) {
      if (leaf instanceof DataSourceV2Relation relation
          && relation.table() instanceof RowLevelOperationTable) {
        targets.add(relation);
      }
    }
    if (targets.size() != 1) {
      return Optional.empty();
    }
    DataSourceV2Relation target = targets.get(0);
    return MergeOutput.of(statement, merge, own(target))
        .map(output -> new MergedColumns(statement, target, constraints, output));
  }

  @Override
  List<Attribute> columns() {
    return output.set().stream().map(output.columns()::get).toList();
  }

  @Override
  public boolean isOfAllRows() {
    return false;
  }

  @Override
  public int reads() {
    Set<ExprId> read = new HashSet<>();
    addReads(output.narrow(output.merge().child()), read);
    return (int)
        output.columns().stream().filter(each -> read.contains(each.exprId())).count();
  }

  /** Adds the columns that a plan computes with, without those that it only passes on. */
  private static void addReads(LogicalPlan plan, Set<ExprId> read) {
    if (plan.children().isEmpty()) {
      return; // its expressions are what it offers
    }
    for (Expression each : CollectionConverters.asJava(plan.expressions())) {
      if (!(plan instanceof Project && each instanceof Attribute)) {
        CollectionConverters.asJava(each.references().toSeq())
            .forEach(column -> read.add(column.exprId()));
      }
    }
    CollectionConverters.asJava(plan.children()).forEach(child -> addReads(child, read));
  }

  /** Runs the join, and stores what the statement does to each row. */
  @Override
  public Map<Long, Long> count(TableAtEpoch table) {
    LogicalPlan join = output.merge().child().transformUpWithSubqueries(new Pinned(table));
    // Unlike a cache, a checkpoint is never computed again.
    found = query(output.narrow(join)).localCheckpoint(true);
    Column operation = functions.col(MergeOutput.OPERATION);
    for (Row each : found.groupBy(operation, rowset()).count().collectAsList()) {
      if (each.getInt(0) == MergeOutput.UPDATE) {
        updated.put(each.getLong(1), each.getLong(2));
      } else {
        insertsOrDeletes = true;
      }
    }
    return updated;
  }

  private static Column rowset() {
    return functions.shiftrightunsigned(functions.col(HANDLER), 32);
  }

  @Override
  public boolean isEvaluated() {
    return true;
  }

  private static Dataset<Row> updates(Dataset<Row> found, List<Long> rowsets) {
    return found
        .filter(functions.col(MergeOutput.OPERATION).equalTo(MergeOutput.UPDATE))
        .filter(rowset().isInCollection(rowsets));
  }

  @Override
  public RewrittenColumns write(
      TableAtEpoch table,
      List<Long> rowsets,
      String job,
      String shapes,
      Map<String, String> hadoopConf) {
    Dataset<Row> rows = query(kept(table));
    int tasks = table.wholeTasks();
    Dataset<Row> changes =
        query(changed(updates(found, rowsets)))
            .repartitionById(tasks, rowset().mod(tasks).cast("int"))
            .sortWithinPartitions(HANDLER);
    ColumnRewrite rewrite = new ColumnRewrite(job, shapes, rows.schema(), hadoopConf, true);
    return rewrite.of(
        rows.queryExecution().toRdd().toJavaRDD(), changes.queryExecution().toRdd().toJavaRDD());
  }

  /** Returns the rows of RowSets with the stored values of the set columns. */
  private LogicalPlan kept(TableAtEpoch table) {
    return values(
        pinned(relation, table), handler(), Literal.FalseLiteral(), columns());
  }

  /** Returns the changed rows with the new values, and fails if a constraint does not hold. */
  private LogicalPlan changed(Dataset<Row> updates) {
    LogicalPlan named = MergeOutput.named(updates.logicalPlan(), output.narrowColumns());
    LogicalPlan checked = checked(named, Literal.TrueLiteral(), ids(output.setColumns()));
    return values(
        checked, checked.output().apply(1), Literal.TrueLiteral(), output.setColumns());
  }

  private static LogicalPlan values(
      LogicalPlan from, Attribute handler, Literal changed, List<Attribute> values) {
    List<NamedExpression> list = new ArrayList<>();
    list.add(alias(handler, HANDLER, NamedExpression.newExprId()));
    list.add(alias(changed, "changed", NamedExpression.newExprId()));
    for (Attribute each : values) {
      list.add(alias(each, "value" + list.size(), NamedExpression.newExprId()));
    }
    return new Project(seq(list), from);
  }

  @Override
  public boolean changesMore(List<Long> others) {
    return insertsOrDeletes || !others.isEmpty();
  }

  @Override
  public void run(
      SupportsRowLevelOperations table, List<Long> others, RowLevelOperation operation) {
    List<LogicalPlan> parts = new ArrayList<>();
    if (insertsOrDeletes) {
      parts.add(insertedOrDeleted());
    }
    if (!others.isEmpty()) {
      parts.add(moved(table, others));
    }
    LogicalPlan rows = parts.size() == 1 ? parts.get(0) : new Union(seq(parts), false, false);
    LogicalPlan query = output.named(rows);
    if (statement.query() instanceof Filter constraints) {
      query = constraints.withNewChildren(seq(List.of(query)));
    }
    Table other = new RowLevelOperationTable(table, operation);
    query(copied(query, with((DataSourceV2Relation) statement.table(), other)));
  }

  private LogicalPlan insertedOrDeleted() {
    Dataset<Row> others =
        found.filter(functions.col(MergeOutput.OPERATION).notEqual(MergeOutput.UPDATE));
    LogicalPlan from = others.logicalPlan();
    Attribute inserted = from.output().last();
    return output.whole(
        from,
        from.output().apply(0),
        from.output().apply(1),
        at -> new GetStructField(inserted, at, Option.empty()));
  }

  /** Returns the changed rows of RowSets with all columns. */
  private LogicalPlan moved(SupportsRowLevelOperations table, List<Long> others) {
    Dataset<Row> again = query(((LogicalRDD) found.logicalPlan()).newInstance());
    LogicalPlan changes = updates(again, others).logicalPlan();
    Attribute handler = changes.output().apply(1);
    long rows = others.stream().mapToLong(updated::get).sum();
    Join join =
        new Join(
            changes,
            pinned(relation, table),
            Inner$.MODULE$,
            Option.apply(new EqualTo(handler, handler())),
            isSmall(changes, rows) ? BROADCAST : JoinHint$.MODULE$.NONE());
    return output.whole(
        join,
        changes.output().apply(0),
        handler,
        at -> {
          int value = output.set().indexOf(at);
          return value < 0 ? output.columns().get(at) : changes.output().apply(2 + value);
        });
  }

  /** Whether Spark would give rows of a table to all tasks of a join. */
  private static boolean isSmall(LogicalPlan plan, long rows) {
    int each = 8;
    for (Attribute column : CollectionConverters.asJava(plan.output())) {
      each += column.name().equals(MergeOutput.INSERTED) ? 8 : column.dataType().defaultSize();
    }
    return rows * each <= SQLConf.get().autoBroadcastJoinThreshold();
  }

  /** Returns the statement with another query and table, and without any condition of its own. */
  private LogicalPlan copied(LogicalPlan query, DataSourceV2Relation table) {
    Object[] parts = new Object[statement.productArity()];
    for (int at = 0; at < parts.length; at++) {
      Object part = statement.productElement(at);
      boolean looks = part instanceof Option<?> some && some.exists(Expression.class::isInstance);
      parts[at] =
          part == statement.query()
              ? query
              : part == statement.table() ? table : looks ? Option.empty() : part;
    }
    return statement.makeCopy(parts);
  }

  @Override
  public void close() {
    if (found != null) {
      ((LogicalRDD) found.logicalPlan()).rdd().unpersist(false);
    }
  }

  /**
   * Replaces the relation of the changed table by one that can be read. Other tables are read at the
   * epoch at which the statement has found them.
   */
  private static final class Pinned extends AbstractPartialFunction<LogicalPlan, LogicalPlan> {
    private final Table target;

    Pinned(Table target) {
      this.target = target;
    }

    @Override
    public boolean isDefinedAt(LogicalPlan plan) {
      return plan instanceof DataSourceV2Relation relation
          && (relation.table() instanceof RowLevelOperationTable
              || relation.table() instanceof TableAtEpoch);
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
      DataSourceV2Relation relation = (DataSourceV2Relation) plan;
      boolean changes = relation.table() instanceof RowLevelOperationTable;
      return pinned(relation, changes ? target : relation.table());
    }
  }
}
