package colonnade.spark.quirks.tables;

import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.plans.logical.AddCheckConstraint;
import org.apache.spark.sql.catalyst.plans.logical.AddConstraint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule for {@code ADD CONSTRAINT … CHECK} that leaves it to the catalog to look for a row that
 * contradicts the condition. The catalog names such a row, and Spark does not. Spark also has no
 * plan for a condition that holds for every row that there can be.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataSourceV2Strategy} plans {@code AddCheckConstraint} only
 * above a scan, which the optimizer removes for such a condition. It always plans {@code
 * AddConstraint}, without a look at the rows.
 */
public final class ChecksByCatalog extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!(plan instanceof AddCheckConstraint add) || !add.resolved()) {
      return plan;
    }
    List<LogicalPlan> read = CollectionConverters.asJava(add.child().collectLeaves());
    if (read.size() != 1
        || !(read.get(0) instanceof DataSourceV2Relation relation)
        || !(relation.table() instanceof TableAtEpoch)
        || relation.catalog().isEmpty()
        || readsOtherRows(add.child())) {
      return plan;
    }
    // Above the scan, Spark pads char columns under other ids, and the condition reads those.
    ResolvedTable table =
        new ResolvedTable(
            (TableCatalog) relation.catalog().get(),
            relation.identifier().get(),
            relation.table(),
            add.child().output());
    return new AddConstraint(table, add.checkConstraint());
  }

  /** Whether the condition needs more than the row itself; Spark then refuses it by name. */
  private static boolean readsOtherRows(LogicalPlan query) {
    return query.containsPattern(TreePattern.AGGREGATE_EXPRESSION())
        || query.containsPattern(TreePattern.WINDOW_EXPRESSION())
        || query.containsPattern(TreePattern.GENERATOR());
  }
}
