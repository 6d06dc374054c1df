package colonnade.spark.quirks.writes;

import colonnade.spark.table.GeneratedColumn;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceData;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule of the analyzer that computes the generated columns of rows to write. NULL in one counts as
 * not given; another value must be the computed one. Before that, it fills in when the rows expire,
 * if the write says it. The rule marks each column that it computes, so that a write without the
 * rule is refused.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code V2WriteCommand} and {@code RowLevelOperationTable}. Spark has
 * resolved all writes when rules of this kind run, has made {@code WriteDelta} of UPDATE and MERGE,
 * and has put the conditions of constraints above the rows.
 */
public final class FillGenerated extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<LogicalPlan, LogicalPlan> FILL =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(LogicalPlan plan) {
          return plan instanceof V2WriteCommand write
              && !(plan instanceof ReplaceData)
              && write.outputResolved()
              && isFilled(write);
        }

        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          GeneratedColumn.Owner owner = owner((V2WriteCommand) plan);
          return plan instanceof WriteDelta change
              ? new FilledChange(change, owner).plan()
              : filled((V2WriteCommand) plan, owner);
        }
      };

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.resolveOperatorsUp(FILL);
  }

  private static boolean isFilled(V2WriteCommand write) {
    GeneratedColumn.Owner owner = owner(write);
    return owner != null && (!owner.generated().isEmpty() || ExpiringRows.areAskedFor(write));
  }

  /** Returns the table that is written; null if it cannot have generated columns. */
  private static GeneratedColumn.Owner owner(V2WriteCommand write) {
    if (!(write.table() instanceof DataSourceV2Relation relation)) {
      return null;
    }
    Table table =
        relation.table() instanceof RowLevelOperationTable operation
            ? operation.table()
            : relation.table();
    return table instanceof GeneratedColumn.Owner owner ? owner : null;
  }

  private static LogicalPlan filled(V2WriteCommand write, GeneratedColumn.Owner owner) {
    List<Attribute> given = CollectionConverters.asJava(write.query().output());
    Map<String, Integer> places = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (int at = 0; at < given.size(); at++) {
      places.put(given.get(at).name(), at);
    }
    FilledRows filled = new FilledRows(owner, places);
    UnaryOperator<LogicalPlan> before =
        ExpiringRows.areAskedFor(write)
            ? rows -> ExpiringRows.of(write, rows)
            : UnaryOperator.identity();
    return (LogicalPlan) write.withNewQuery(filled.of(write.query(), before));
  }
}
