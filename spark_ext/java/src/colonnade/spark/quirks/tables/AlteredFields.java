package colonnade.spark.quirks.tables;

import colonnade.spark.table.TableAtEpoch;
import org.apache.spark.sql.catalyst.analysis.ResolvedFieldName;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumnSpec;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumns;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that lets changes of columns reach the catalog, which Spark refuses before. Spark looks at
 * the column as its plan states it, so the rule states another one. Nothing else of it is read
 * afterwards.
 *
 * <ul>
 *   <li>{@code SET NOT NULL} is refused for each column that may be NULL, whatever its rows are. The
 *       rule states that the column is NOT NULL already. The catalog looks at the rows.
 *   <li>A new type is refused if Spark does not cast to it, and Spark does not say which types would
 *       do. Spark also refuses a longer {@code char} or {@code varchar} inside a column, because it
 *       treats such a field as a string. The rule states that the column has the new type already.
 *       The catalog decides. For a change of such a field to {@code STRING} this rule is too late,
 *       see {@link AlteredTexts}.
 * </ul>
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckAnalysis.checkAlterTableCommand}, which follows the
 * rules of this kind and takes the declared type of a text from the metadata of its column, and
 * {@code AlterColumns.changes}.
 */
public final class AlteredFields extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<Expression, Expression> RESTATE =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Expression each) {
          return each instanceof AlterColumnSpec spec
              && spec.column() instanceof ResolvedFieldName name
              && !restated(spec, name).equals(name);
        }

        @Override
        public Expression apply(Expression each) {
          AlterColumnSpec spec = (AlterColumnSpec) each;
          ResolvedFieldName name = (ResolvedFieldName) spec.column();
          return spec.mapChildren(child -> child == name ? restated(spec, name) : child);
        }
      };

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    boolean applies =
        plan instanceof AlterColumns alter
            && alter.table() instanceof ResolvedTable found
            && found.table() instanceof TableAtEpoch;
    return applies ? plan.transformExpressions(RESTATE) : plan;
  }

  private static ResolvedFieldName restated(AlterColumnSpec spec, ResolvedFieldName name) {
    StructField field = name.field();
    boolean nullable = field.nullable() && !spec.newNullability().contains(false);
    boolean retyped = spec.newDataType().isDefined();
    DataType type = retyped ? spec.newDataType().get() : field.dataType();
    Metadata metadata = retyped ? Metadata.empty() : field.metadata();
    return name.copy(name.path(), new StructField(field.name(), type, nullable, metadata));
  }
}
