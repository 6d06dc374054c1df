package colonnade.spark.quirks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.AddCheckConstraint;
import org.apache.spark.sql.catalyst.plans.logical.AddConstraint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule for {@code ADD CONSTRAINT … CHECK} whose condition holds for every row that there can be,
 * such as {@code id IS NOT NULL} for a column that is NOT NULL. Spark's optimizer removes the query
 * for the rows that contradict such a condition, and the planner then finds no table. The rule adds
 * the constraint without the query.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataSourceV2Strategy} plans {@code AddCheckConstraint} only
 * above a scan. It always plans {@code AddConstraint}, and then the catalog has to check the rows.
 */
public final class ProvenChecks extends Rule<LogicalPlan> {
  private final Predicate<Table> ours;

  /** Makes the rule for tables whose catalog checks the rows of new constraints itself, too. */
  public ProvenChecks(Predicate<Table> ours) {
    this.ours = ours;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!(plan instanceof AddCheckConstraint add) || !add.resolved()) {
      return plan;
    }
    List<LogicalPlan> read = CollectionConverters.asJava(add.child().collectLeaves());
    if (read.size() != 1
        || !(read.get(0) instanceof DataSourceV2Relation relation)
        || !ours.test(relation.table())
        || relation.catalog().isEmpty()
        || !isEmpty(add.child())) {
      return plan;
    }
    List<Attribute> columns = new ArrayList<>(CollectionConverters.asJava(relation.output()));
    ResolvedTable table =
        new ResolvedTable(
            (TableCatalog) relation.catalog().get(),
            relation.identifier().get(),
            relation.table(),
            CollectionConverters.asScala(columns).toSeq());
    return new AddConstraint(table, add.checkConstraint());
  }

  /** Whether the optimizer can tell that a query has no rows. */
  private static boolean isEmpty(LogicalPlan query) {
    LogicalPlan optimized = SparkSession.active().sessionState().optimizer().execute(query);
    return optimized.maxRows().exists(most -> (long) most == 0);
  }
}
