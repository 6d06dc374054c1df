package colonnade.spark.quirks.changes;

import colonnade.spark.table.TableAtEpoch;
import java.lang.reflect.Constructor;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * An optimizer rule for a MERGE of a small source: of the table, only the rows whose keys are among
 * those of the source go into the join. Spark may broadcast neither side of this outer join, so
 * without the rule all rows of the table are shuffled.
 *
 * <pre>
 * MERGE INTO t USING s ON t.id = s.id        MergeRows
 * WHEN MATCHED THEN UPDATE ...                 RightOuter (t.id = s.id)
 * WHEN NOT MATCHED THEN INSERT ...               LeftSemi (t.id = key), key is broadcast
 *                                                  t, whose blocks are skipped by the keys
 *                                                  Project (s.id AS key)
 *                                                    Rebalance (s.id) of s
 *                                                Rebalance (s.id) of s
 * </pre>
 *
 * <p>The equal parts make one exchange, so the source is computed once. Spark would drop the exchange
 * of a {@code Repartition} above rows that are already in its partitions, and compute twice what is
 * above the exchange below. The rule leaves a MERGE as it is if a clause is about rows that the source
 * lacks, if the condition compares no column with {@code =}, if Spark would not broadcast the keys,
 * if a value of the source may differ when a lost task computes it again, or in a session that uses no
 * exchange twice. In a session without adaptive execution, a broadcast may only take as long as {@code
 * spark.sql.broadcastTimeout}, and the time that the source takes would count.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code MergeRows} over a {@code Join} whose left side is the table.
 * The constructor of {@code DynamicPruningSubquery} has one more parameter, an option, on 4.3.
 */
public final class ReducedMerges extends Rule<LogicalPlan> {
  private static final JoinHint BROADCAST_KEYS =
      new JoinHint(Option.empty(), Option.apply(new HintInfo(Option.apply(BROADCAST$.MODULE$))));

  /** A comparison of the join: a value of the table, and the value of the source that it equals. */
  private record Compared(BinaryComparison comparison, Expression ours, Expression theirs) {}

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    SQLConf conf = SQLConf.get();
    if (!conf.adaptiveExecutionEnabled() || !conf.exchangeReuseEnabled()) {
      return plan;
    }
    return plan.transform(
        new AbstractPartialFunction<>() {
          @Override
          public boolean isDefinedAt(LogicalPlan node) {
            return node instanceof MergeRows;
          }

          @Override
          public LogicalPlan apply(LogicalPlan node) {
            return reduced(node);
          }
        });
  }

  /** Returns a plan whose join, which may be below projections, has a reduced table. */
  private static LogicalPlan reduced(LogicalPlan plan) {
    if (plan instanceof Join join) {
      return reduced(join);
    }
    return plan instanceof MergeRows || plan instanceof Project
        ? plan.withNewChildren(SetColumns.seq(List.of(reduced(plan.children().head()))))
        : plan;
  }

  private static LogicalPlan reduced(Join join) {
    LogicalPlan source = join.right();
    boolean keepsOnlyMatches =
        join.joinType() == RightOuter$.MODULE$ || join.joinType() == Inner$.MODULE$;
    if (!keepsOnlyMatches || !source.deterministic() || !isTable(join.left())) {
      return join;
    }
    List<Compared> compared = compared(join);
    if (compared.isEmpty()) {
      return join;
    }
    LogicalPlan once =
        new RebalancePartitions(
            SetColumns.seq(compared.stream().map(Compared::theirs).toList()),
            source,
            Option.empty(),
            Option.empty());
    Project keys = keys(compared, once);
    // Sizes are estimated of what the keys are computed from, without the columns beside them.
    if (!isSmall(ColumnPruning$.MODULE$.apply(keys(compared, source)))) {
      return join;
    }
    LogicalPlan some =
        new Join(
            skipping(join.left(), compared, keys),
            keys,
            LeftSemi$.MODULE$,
            Option.apply(condition(compared, keys)),
            BROADCAST_KEYS);
    return join.withNewChildren(SetColumns.seq(List.of(some, once)));
  }

  /** Whether a plan reads one table of Colonnade, and neither joins nor combines its rows. */
  private static boolean isTable(LogicalPlan plan) {
    if (plan instanceof DataSourceV2ScanRelation scan) {
      Table table = scan.relation().table();
      return (table instanceof RowLevelOperationTable changed ? changed.table() : table)
          instanceof TableAtEpoch;
    }
    return (plan instanceof Project || plan instanceof Filter)
        && isTable(plan.children().head());
  }

  private static List<Compared> compared(Join join) {
    List<Compared> found = new ArrayList<>();
    List<Expression> parts =
        join.condition().isDefined() ? SetColumns.conjuncts(join.condition().get()) : List.of();
    for (Expression part : parts) {
      boolean usable =
          (part instanceof EqualTo || part instanceof EqualNullSafe)
              && part.deterministic()
              && !SubqueryExpression.hasSubquery(part);
      if (usable) {
        BinaryComparison comparison = (BinaryComparison) part;
        add(found, join, comparison, comparison.left(), comparison.right());
        add(found, join, comparison, comparison.right(), comparison.left());
      }
    }
    return found;
  }

  private static void add(
      List<Compared> found, Join join, BinaryComparison part, Expression ours, Expression theirs) {
    if (!ours.references().isEmpty()
        && !theirs.references().isEmpty()
        && ours.references().subsetOf(join.left().outputSet())
        && theirs.references().subsetOf(join.right().outputSet())) {
      found.add(new Compared(part, ours, theirs));
    }
  }

  private static Project keys(List<Compared> compared, LogicalPlan source) {
    List<NamedExpression> keys = new ArrayList<>();
    for (Compared each : compared) {
      keys.add(SetColumns.alias(each.theirs(), "key" + keys.size(), NamedExpression.newExprId()));
    }
    return new Project(SetColumns.seq(keys), source);
  }

  private static boolean isSmall(LogicalPlan keys) {
    BigInteger bytes = keys.stats().sizeInBytes().bigInteger();
    return bytes.compareTo(BigInteger.valueOf(SQLConf.get().autoBroadcastJoinThreshold())) <= 0;
  }

  private static Expression condition(List<Compared> compared, Project keys) {
    List<Expression> parts = new ArrayList<>();
    for (Compared each : compared) {
      Attribute key = keys.output().apply(parts.size());
      parts.add(each.comparison().withNewChildren(SetColumns.seq(List.of(each.ours(), key))));
    }
    return parts.stream().reduce(And::new).orElseThrow();
  }

  /**
   * Returns the table with its scan filtered by those keys that are compared with its columns. A
   * session without dynamic pruning cannot run such a filter.
   */
  private static LogicalPlan skipping(LogicalPlan table, List<Compared> compared, Project keys) {
    if (!SQLConf.get().dynamicPartitionPruningEnabled()) {
      return table;
    }
    if (!(table instanceof DataSourceV2ScanRelation scan)) {
      LogicalPlan below = skipping(table.children().head(), compared, keys);
      return table.withNewChildren(SetColumns.seq(List.of(below)));
    }
    LogicalPlan filtered = scan;
    for (int at = 0; at < compared.size(); at++) {
      Compared each = compared.get(at);
      boolean isColumn =
          each.comparison() instanceof EqualTo
              && each.ours() instanceof Attribute column
              && scan.outputSet().contains(column);
      if (isColumn) {
        filtered = new Filter(among(each.ours(), keys, at), filtered);
      }
    }
    return filtered;
  }

  /** Returns the condition that a column is among the keys at a place, once they are broadcast. */
  private static Expression among(Expression column, Project keys, int place) {
    Object[] parts = {
      column,
      keys,
      keys.output(),
      SetColumns.seq(List.<Object>of(place)),
      true, // never as a query of its own
      NamedExpression.newExprId(),
      Option.empty(),
      Option.empty()
    };
    Constructor<?> constructor = DynamicPruningSubquery.class.getConstructors()[0];
    try {
      return (Expression)
          constructor.newInstance(Arrays.copyOf(parts, constructor.getParameterCount()));
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
