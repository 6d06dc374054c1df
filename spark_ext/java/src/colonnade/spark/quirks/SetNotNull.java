package colonnade.spark.quirks;

import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.analysis.ResolvedFieldName;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumnSpec;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumns;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.types.StructField;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that lets {@code ALTER COLUMN … SET NOT NULL} reach the catalog, which looks at the rows.
 * Spark refuses the statement for every column that may be NULL. So the rule states in the plan
 * that the column is NOT NULL already; nothing else of that column is read afterwards.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckAnalysis.checkAlterTableCommand}, which follows the
 * rules of this kind, and {@code AlterColumns.changes}.
 */
public final class SetNotNull extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<Expression, Expression> CHANGED =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Expression each) {
          return each instanceof AlterColumnSpec spec
              && spec.newNullability().contains(false)
              && spec.column() instanceof ResolvedFieldName found
              && found.field().nullable();
        }

        @Override
        public Expression apply(Expression each) {
          return each.transform(NAMED);
        }
      };

  private static final AbstractPartialFunction<Expression, Expression> NAMED =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Expression each) {
          return each instanceof ResolvedFieldName;
        }

        @Override
        public Expression apply(Expression each) {
          ResolvedFieldName name = (ResolvedFieldName) each;
          StructField field = name.field();
          return name.copy(
              name.path(),
              new StructField(field.name(), field.dataType(), false, field.metadata()));
        }
      };

  private final Predicate<Table> ours;

  /** Makes the rule for tables whose catalog looks at the rows. */
  public SetNotNull(Predicate<Table> ours) {
    this.ours = ours;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    boolean applies =
        plan instanceof AlterColumns alter
            && alter.table() instanceof ResolvedTable found
            && ours.test(found.table());
    return applies ? plan.transformExpressions(CHANGED) : plan;
  }
}
