package colonnade.spark.quirks.writes;

import colonnade.spark.quirks.expressions.ColumnMapping;
import colonnade.spark.quirks.statement.RunningStatement;
import colonnade.spark.table.TableAtEpoch;
import colonnade.write.RowCheck;
import colonnade.write.RowReports;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The condition of an overwrite that only Spark can evaluate. Spark finds the rows to replace at
 * the epoch that the statement is based on, and checks each new row.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code OverwriteByExpression}, {@code FinishAnalysis} and {@code
 * DataSourceV2Relation}.
 */
public final class SparkCondition {
  private final TableAtEpoch table;
  private final Expression condition;

  private SparkCondition(TableAtEpoch table, Expression condition) {
    this.table = table;
    this.condition = condition;
  }

  /** Returns the condition of the overwrite that runs in this thread; nothing without one. */
  public static Optional<SparkCondition> running(TableAtEpoch table) {
    return RunningStatement.find(OverwriteByExpression.class)
        .map(overwrite -> new SparkCondition(table, evaluable(overwrite)));
  }

  /** Returns the condition with the current time and user put in, so that all tasks agree. */
  private static Expression evaluable(OverwriteByExpression overwrite) {
    LogicalPlan filter = new Filter(overwrite.deleteExpr(), (LogicalPlan) overwrite.table());
    var finish = SparkSession.active().sessionState().optimizer().FinishAnalysis();
    return ((Filter) finish.apply(filter)).condition();
  }

  /** Returns the check that each new row must pass. */
  public RowCheck check(StructType rows) {
    Expression bound =
        condition.transform(
            new ColumnMapping() {
              @Override
              public Expression column(AttributeReference column) {
                return new BoundReference(place(rows, column.name()), column.dataType(), true);
              }
            });
    return new RowCheck(bound, condition.sql());
  }

  /** Runs a query for the rows that meet the condition, and returns the reports of its tasks. */
  public List<String> rows() {
    LogicalPlan relation = DataSourceV2Relation.create(table, Option.empty(), Option.empty());
    List<Attribute> columns = CollectionConverters.asJava(relation.output());
    Expression met =
        condition.transform(
            new ColumnMapping() {
              @Override
              public Expression column(AttributeReference column) {
                return columns.stream()
                    .filter(each -> each.name().equalsIgnoreCase(column.name()))
                    .findFirst()
                    .orElseThrow();
              }
            });
    return RowReports.of(
        Dataset.ofRows(SparkSession.active(), new Filter(met, relation))
            .select(TableAtEpoch.ROW_HANDLER));
  }
}
