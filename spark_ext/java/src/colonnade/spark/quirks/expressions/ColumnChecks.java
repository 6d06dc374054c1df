package colonnade.spark.quirks.expressions;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.CheckInvariant;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.constraints.Check;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The CHECK constraints of a table that read one of its columns, which gets new values. Spark itself
 * adds constraints only to statements that write whole rows.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckInvariant}, which fails for FALSE and allows NULL.
 */
final class ColumnChecks {
  static final ColumnChecks NONE = new ColumnChecks(null, Map.of());

  private final Attribute column;
  private final Map<Check, Expression> conditions;

  private ColumnChecks(Attribute column, Map<Check, Expression> conditions) {
    this.column = column;
    this.conditions = conditions;
  }

  /** Returns the checks of {@code column}, one of those of {@code rows}, the rows of the table. */
  static ColumnChecks of(TableAtEpoch table, LogicalPlan rows, Attribute column) {
    Map<Check, Expression> conditions = new LinkedHashMap<>();
    for (Constraint each : table.constraints()) {
      Check check = (Check) each;
      if (!ReadColumns.of(check.predicateSql(), Set.of(column.name())).isEmpty()) {
        Project plan =
            (Project)
                Dataset.ofRows(SparkSession.active(), rows)
                    .selectExpr("(" + check.predicateSql() + ") AS met")
                    .logicalPlan();
        conditions.put(check, ((Alias) plan.projectList().head()).child());
      }
    }
    return new ColumnChecks(column, conditions);
  }

  /** Returns the columns that the constraints read. */
  List<Attribute> reads() {
    List<Attribute> reads = new ArrayList<>();
    Set<ExprId> known = new HashSet<>();
    for (Expression condition : conditions.values()) {
      for (Attribute each : CollectionConverters.asJava(condition.references().toSeq())) {
        if (known.add(each.exprId())) {
          reads.add(each);
        }
      }
    }
    return reads;
  }

  /**
   * Returns a plan with the rows of {@code values}, which fails if a new value is not allowed. The
   * second column of {@code values} tells whether the third one, the value, is new.
   */
  LogicalPlan in(Project values) {
    if (conditions.isEmpty()) {
      return values;
    }
    List<Attribute> output = CollectionConverters.asJava(values.output());
    Attribute value = output.get(2);
    List<NamedExpression> given =
        new ArrayList<>(CollectionConverters.asJava(values.projectList()));
    for (Attribute each : reads()) {
      if (!each.exprId().equals(column.exprId())) {
        given.add(each);
      }
    }
    LogicalPlan all =
        new Project(seq(given), values.child());
    Expression allowed =
        conditions.entrySet().stream()
            .map(each -> (Expression) invariant(each.getKey(), each.getValue(), value))
            .reduce(And::new)
            .orElseThrow();
    Expression checked = new If(output.get(1), allowed, Literal.TrueLiteral());
    List<NamedExpression> kept = new ArrayList<>(output);
    return new Project(
        seq(kept), new Filter(checked, all));
  }

  private CheckInvariant invariant(Check check, Expression condition, Attribute value) {
    List<Tuple2<String, Expression>> shown = new ArrayList<>();
    for (Attribute each : CollectionConverters.asJava(condition.references().toSeq())) {
      shown.add(new Tuple2<>(each.name(), isTarget(each) ? value : each));
    }
    Expression replaced =
        condition.transform(
            new ColumnMapping() {
              @Override
              public Expression column(AttributeReference read) {
                return isTarget(read) ? value : read;
              }
            });
    return new CheckInvariant(
        replaced,
        seq(shown),
        check.name(),
        check.predicateSql());
  }

  private boolean isTarget(Attribute read) {
    return read.exprId().equals(column.exprId());
  }
}
