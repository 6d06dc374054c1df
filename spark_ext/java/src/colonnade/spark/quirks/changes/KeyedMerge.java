package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.writes.EvolvingWrites;
import colonnade.spark.table.TableAtEpoch;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.util.RowDeltaUtils;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.FractionalType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A MERGE that compares columns with values of its source, updates each row that matches, and
 * inserts each other row of the source, with the same values in the columns that it sets.
 *
 * <p>Seen on Spark 4.1 and 4.3: the child of {@code MergeRows} is a {@code Join} of a {@code Project}
 * for each side, which adds columns that tell the sides. Parts of the condition that read only the
 * table are in a {@code Filter} below. Spark 4.3 adds a part to {@code AppendData.byPosition}.
 *
 * @param target the table
 * @param source the rows that the table is merged with
 * @param keys the compared columns
 * @param names the columns that get a value of the source in each row, keys and all
 * @param row the columns of a new row, computed from the source
 */
record KeyedMerge(
    DataSourceV2Relation target,
    LogicalPlan source,
    List<String> keys,
    List<String> names,
    List<NamedExpression> row) {

  /** Returns nothing for a MERGE that is not such a one, or whose source reads its table. */
  static Optional<KeyedMerge> of(WriteDelta statement) {
    MergeRows merge = (MergeRows) statement.query();
    if (!(statement.originalTable() instanceof DataSourceV2Relation target
            && target.table() instanceof TableAtEpoch table
            && table.hasPrimaryKey()
            && merge.child() instanceof Join join
            && join.joinType() == RightOuter$.MODULE$
            && join.condition().isDefined()
            && join.right() instanceof Project marked)
        || !merge.notMatchedBySourceInstructions().isEmpty()) {
      return Optional.empty();
    }
    DataSourceV2Relation relation = relation(join.left());
    Expression[] updated = only(merge.matchedInstructions(), MergeOutput.UPDATE);
    Expression[] inserted =
        only(merge.notMatchedInstructions(), RowDeltaUtils.INSERT_OPERATION());
    if (relation == null || updated == null || inserted == null) {
      return Optional.empty();
    }
    LogicalPlan source = marked.child();
    Map<ExprId, Expression> compared =
        compared(join.condition().get(), SetColumns.ids(SetColumns.own(relation)), source);
    return compared == null || reads(source, table)
        ? Optional.empty()
        : MergeOutput.of(statement, merge, SetColumns.own(relation))
            .flatMap(output -> of(target, source, compared, output, updated, inserted));
  }

  private static Optional<KeyedMerge> of(
      DataSourceV2Relation target,
      LogicalPlan source,
      Map<ExprId, Expression> compared,
      MergeOutput output,
      Expression[] updated,
      Expression[] inserted) {
    List<String> keys = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<NamedExpression> row = new ArrayList<>();
    for (int at = 0; at < output.columns().size(); at++) {
      Attribute column = output.columns().get(at);
      Expression after = bare(updated[output.places().get(at)]);
      Expression value = bare(inserted[output.places().get(at)]);
      Expression key = compared.get(column.exprId());
      boolean isSet = output.set().contains(at);
      boolean fits =
          (key == null || plain(value).semanticEquals(plain(key)))
              && (isSet ? after.semanticEquals(value) : key != null || cannotFail(value, column))
              && !SubqueryExpression.hasSubquery(value);
      if (!fits) {
        return Optional.empty();
      }
      if (key != null) {
        keys.add(column.name());
      }
      if (key != null || isSet) {
        names.add(column.name());
      }
      row.add(named(value, column));
    }
    return keys.size() < compared.size()
        ? Optional.empty()
        : Optional.of(new KeyedMerge(target, source, keys, names, row));
  }

  /** Returns the columns of the rows that the only clause of a kind makes, or null. */
  private static Expression[] only(Seq<MergeRows.Instruction> clauses, int operation) {
    return clauses.size() == 1
            && clauses.head() instanceof MergeRows.Keep keep
            && keep.condition().equals(Literal.TrueLiteral())
            && keep.output().head() instanceof Literal
            && MergeOutput.operation(keep) == operation
        ? CollectionConverters.asJava(keep.output()).toArray(Expression[]::new)
        : null;
  }

  /** Returns the table on a side of a join; null if a condition leaves out some of its rows. */
  private static DataSourceV2Relation relation(LogicalPlan side) {
    LogicalPlan plan = side instanceof Project marked ? marked.child() : side;
    if (plan instanceof Filter filter && filter.condition().equals(Literal.TrueLiteral())) {
      plan = filter.child();
    }
    return plan instanceof DataSourceV2Relation found
            && found.table() instanceof RowLevelOperationTable
        ? found
        : null;
  }

  /**
   * Returns what each compared column must equal; null for a condition of another kind. Equal
   * fractions may be stored in two ways, so a MERGE that compares some is of another kind.
   */
  private static Map<ExprId, Expression> compared(
      Expression condition, Set<ExprId> columns, LogicalPlan source) {
    Map<ExprId, Expression> found = new HashMap<>();
    for (Expression each : SetColumns.conjuncts(condition)) {
      if (!(each instanceof EqualTo equal)) {
        return null;
      }
      boolean isLeft =
          equal.left() instanceof Attribute left && columns.contains(left.exprId());
      Expression one = isLeft ? equal.left() : equal.right();
      Expression other = isLeft ? equal.right() : equal.left();
      boolean fits =
          one instanceof Attribute column
              && columns.contains(column.exprId())
              && !(column.dataType() instanceof FractionalType)
              && other.deterministic()
              && !SubqueryExpression.hasSubquery(other)
              && other.references().subsetOf(source.outputSet())
              && found.put(column.exprId(), other) == null;
      if (!fits) {
        return null;
      }
    }
    return found;
  }

  /** Returns a value without the name that Spark gives it while it analyzes a plan. */
  private static Expression bare(Expression value) {
    return value instanceof Alias named ? named.child() : value;
  }

  /** Returns a value without what keeps it the same: checks for NULL, and wider integers. */
  private static Expression plain(Expression value) {
    Expression inner = MergeJoin.exact(value);
    return inner instanceof AssertNotNull checked ? plain(checked.child()) : inner;
  }

  /** Whether a value can be computed for rows that do not need it. */
  private static boolean cannotFail(Expression value, Attribute column) {
    boolean isThere =
        value instanceof Literal
            || value instanceof Attribute
            || value.foldable() && value.children().isEmpty();
    return isThere && (column.nullable() || !value.nullable());
  }

  private static NamedExpression named(Expression value, Attribute column) {
    return new Alias(
        value,
        column.name(),
        NamedExpression.newExprId(),
        SetColumns.seq(List.of()),
        Option.apply(column.metadata()),
        SetColumns.seq(List.of()));
  }

  /** Whether a plan, or a query inside it, reads a table, at whatever epoch. */
  private static boolean reads(QueryPlan<?> plan, TableAtEpoch table) {
    if (plan instanceof CTERelationRef
        || plan instanceof DataSourceV2Relation relation
            && relation.table() instanceof TableAtEpoch other
            && other.id().equals(table.id())) {
      return true; // A CTERelationRef does not tell which tables its query reads.
    }
    List<Object> inner = new ArrayList<>();
    inner.addAll(CollectionConverters.asJava(plan.children()));
    inner.addAll(CollectionConverters.asJava(plan.innerChildren()));
    inner.addAll(CollectionConverters.asJava(plan.subqueries()));
    return inner.stream()
        .anyMatch(each -> each instanceof QueryPlan<?> query && reads(query, table));
  }

  /** Returns the statement as an append whose rows meet those of the table; nothing if it joins. */
  Optional<LogicalPlan> append() {
    TableAtEpoch table = (TableAtEpoch) target.table();
    CaseInsensitiveStringMap options = target.options();
    TableAtEpoch after =
        table.forMerge(keys, names, bytesRead(), options.asCaseSensitiveMap());
    if (after == table) {
      return Optional.empty();
    }
    DataSourceV2Relation relation = EvolvingWrites.with(target, after, options);
    return Optional.of(append(relation, new Project(SetColumns.seq(row), source)));
  }

  /** Returns the bytes of all that the source reads, as far as Spark knows them. */
  private long bytesRead() {
    LogicalPlan plan = SetColumns.query(source).queryExecution().optimizedPlan();
    BigInteger unknown = BigInteger.valueOf(SQLConf.get().defaultSizeInBytes());
    BigInteger bytes = BigInteger.ZERO;
    for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      BigInteger size = leaf.stats().sizeInBytes().bigInteger();
      bytes = size.compareTo(unknown) < 0 ? bytes.add(size) : bytes;
    }
    return bytes.min(unknown).longValueExact();
  }

  private static LogicalPlan append(DataSourceV2Relation relation, LogicalPlan query) {
    Object options =
        scala.collection.immutable.Map.from(
            CollectionConverters.asScala(relation.options().asCaseSensitiveMap()));
    for (Method each : AppendData.class.getMethods()) {
      if (each.getName().equals("byPosition")) {
        Object[] parts = {relation, query, options, false};
        try {
          return (LogicalPlan)
              each.invoke(null, Arrays.copyOf(parts, each.getParameterCount()));
        } catch (ReflectiveOperationException error) {
          throw new IllegalStateException(error);
        }
      }
    }
    throw new IllegalStateException("AppendData.byPosition is missing");
  }
}
