package colonnade.spark.quirks.tables;

import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.TableAtEpoch;
import org.apache.spark.sql.catalyst.analysis.ResolvedFieldName;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFieldName;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumnSpec;
import org.apache.spark.sql.catalyst.plans.logical.AlterColumns;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VarcharType;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that lets {@code ALTER COLUMN s.f TYPE STRING} reach the catalog where the field is a
 * {@code char} or {@code varchar}. Spark treats such a field as a string. It finds the types equal,
 * and makes no change, without an error. The rule states the declared type of the field, before
 * Spark looks for it.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ResolveAlterTableCommands} leaves fields alone that are
 * resolved, and compares their types with the new ones.
 */
public final class AlteredTexts extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!(plan instanceof AlterColumns alter)
        || !(alter.table() instanceof UnresolvedTable named)
        || CollectionConverters.asJava(alter.specs()).stream().noneMatch(AlteredTexts::isText)) {
      return plan;
    }
    return NamedTables.find(named.multipartIdentifier())
        .filter(relation -> relation.table() instanceof TableAtEpoch)
        .map(relation -> CatalogV2Util.v2ColumnsToStructType(relation.table().columns()))
        .map(declared -> plan.transformExpressions(new Declared(declared)))
        .orElse(plan);
  }

  /** Whether a field inside a column shall become a string. */
  private static boolean isText(AlterColumnSpec spec) {
    boolean inside = spec.column() instanceof UnresolvedFieldName name && name.name().size() > 1;
    return inside && spec.newDataType().exists(type -> type instanceof StringType);
  }

  /** From a change of a field of limited length to the same change with the declared type. */
  private static final class Declared extends AbstractPartialFunction<Expression, Expression> {
    private final StructType columns;

    Declared(StructType columns) {
      this.columns = columns;
    }

    @Override
    public boolean isDefinedAt(Expression each) {
      return each instanceof AlterColumnSpec spec
          && isText(spec)
          && declared(spec).exists(
              found ->
                  found._2().dataType() instanceof CharType
                      || found._2().dataType() instanceof VarcharType);
    }

    @Override
    public Expression apply(Expression each) {
      AlterColumnSpec spec = (AlterColumnSpec) each;
      Tuple2<Seq<String>, StructField> found = declared(spec).get();
      ResolvedFieldName resolved = new ResolvedFieldName(found._1(), found._2());
      return spec.mapChildren(child -> child == spec.column() ? resolved : child);
    }

    private Option<Tuple2<Seq<String>, StructField>> declared(AlterColumnSpec spec) {
      return columns.findNestedField(
          spec.column().name(), true, SQLConf.get().resolver(), spec.origin());
    }
  }
}
