package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.expressions.CheckConstraint;
import org.apache.spark.sql.catalyst.expressions.TableConstraint;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.catalyst.plans.logical.AddCheckConstraint;
import org.apache.spark.sql.catalyst.plans.logical.CreateTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTable;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedTableSpec;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that refuses a constraint with a subquery: only the row itself may decide. Spark ends in an
 * internal error after it.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckAnalysis} follows the rules of this kind, and finds the
 * subquery of {@code AddCheckConstraint} or {@code UnresolvedTableSpec} unresolved.
 */
public final class SubqueryChecks extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan instanceof AddCheckConstraint add && isOurs(add.child())) {
      check(add.checkConstraint());
    } else if (plan instanceof CreateTable create && isOurs(create.name())) {
      check(create.tableSpec());
    } else if (plan instanceof ReplaceTable replace && isOurs(replace.name())) {
      check(replace.tableSpec());
    }
    return plan;
  }

  /** Whether a plan reads a table of Colonnade, or names one to create in a catalog of Colonnade. */
  private static boolean isOurs(LogicalPlan plan) {
    if (plan instanceof ResolvedIdentifier named) {
      return named.catalog().getClass().getName().startsWith("colonnade.");
    }
    List<LogicalPlan> read = CollectionConverters.asJava(plan.collectLeaves());
    return read.stream()
        .anyMatch(
            leaf ->
                leaf instanceof DataSourceV2Relation relation
                    && relation.table() instanceof TableAtEpoch);
  }

  private static void check(TableSpecBase spec) {
    if (spec instanceof UnresolvedTableSpec stated) {
      CollectionConverters.asJava(stated.constraints()).forEach(SubqueryChecks::check);
    }
  }

  private static void check(TableConstraint constraint) {
    if (constraint instanceof CheckConstraint check
        && CatalystSqlParser$.MODULE$
            .parseExpression(check.condition())
            .containsPattern(TreePattern.PLAN_EXPRESSION())) {
      throw ColonnadeException.unchecked(
          "COLONNADE_INVALID_INPUT",
          String.format(
              "Constraint %s cannot be CHECK (%s): it has a subquery, and only the row itself may"
                  + " decide; use another condition.",
              check.name(), check.condition()));
    }
  }
}
