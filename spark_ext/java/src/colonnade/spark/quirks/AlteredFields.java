package colonnade.spark.quirks;

import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.analysis.ResolvedFieldName;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumnSpec;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumns;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VarcharType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that lets changes of columns reach the catalog, which Spark refuses before. Spark looks at
 * the column as its plan states it, so the rule states another one. Nothing else of it is read
 * afterwards.
 *
 * <ul>
 *   <li>{@code SET NOT NULL} is refused for each column that may be NULL, whatever its rows are. The
 *       rule states that the column is NOT NULL already. The catalog looks at the rows.
 *   <li>A {@code char} or {@code varchar} inside a column cannot get longer, because Spark treats it
 *       as a string. The rule states the declared type. For a change to {@code STRING} this rule is
 *       too late, see {@link AlteredTexts}.
 * </ul>
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckAnalysis.checkAlterTableCommand}, which follows the
 * rules of this kind, and {@code AlterColumns.changes}.
 */
public final class AlteredFields extends Rule<LogicalPlan> {
  private final Predicate<Table> ours;

  /** Makes the rule for tables whose catalog can make such changes. */
  public AlteredFields(Predicate<Table> ours) {
    this.ours = ours;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    boolean applies =
        plan instanceof AlterColumns alter
            && alter.table() instanceof ResolvedTable found
            && ours.test(found.table());
    if (!applies) {
      return plan;
    }
    Table table = ((ResolvedTable) ((AlterColumns) plan).table()).table();
    return plan.transformExpressions(
        new Restated(CatalogV2Util.v2ColumnsToStructType(table.columns())));
  }

  /** From a change of a column to the same change of a column as the rule states it. */
  private static final class Restated extends AbstractPartialFunction<Expression, Expression> {
    private final StructType declared;

    Restated(StructType declared) {
      this.declared = declared;
    }

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

    private ResolvedFieldName restated(AlterColumnSpec spec, ResolvedFieldName name) {
      StructField field = name.field();
      boolean nullable = field.nullable() && !spec.newNullability().contains(false);
      DataType type = isBounded(spec.newDataType()) ? declaredType(name) : field.dataType();
      return name.copy(
          name.path(), new StructField(field.name(), type, nullable, field.metadata()));
    }

    private static boolean isBounded(Option<DataType> type) {
      return type.exists(each -> each instanceof CharType || each instanceof VarcharType);
    }

    private DataType declaredType(ResolvedFieldName name) {
      Seq<String> path = name.name();
      Option<Tuple2<Seq<String>, StructField>> found =
          declared.findNestedField(path, true, (one, other) -> one.equals(other), null);
      return found.isDefined() ? found.get()._2().dataType() : name.field().dataType();
    }
  }
}
