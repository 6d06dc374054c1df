package colonnade.spark.quirks.changes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule of the analyzer that lets the values of an UPDATE read columns that its table offers beside
 * its own, such as {@code _epoch}. Where the condition needs no further analysis, Spark rewrites the
 * statement before it has added such columns to what the statement reads.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteDelta}, whose original table has the missing columns as
 * its {@code metadataOutput}.
 */
public final class OfferedColumns extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<LogicalPlan, LogicalPlan> ADD =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(LogicalPlan plan) {
          return plan instanceof WriteDelta change && !missing(change).isEmpty();
        }

        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          WriteDelta change = (WriteDelta) plan;
          return (LogicalPlan) change.withNewQuery(reading(change.query(), missing(change)));
        }
      };

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.resolveOperatorsUp(ADD);
  }

  /** Returns the offered columns that a new row needs, and that the statement does not read. */
  private static List<AttributeReference> missing(WriteDelta change) {
    Set<ExprId> wanted = new HashSet<>();
    for (Attribute each : CollectionConverters.asJava(change.query().missingInput().toSeq())) {
      wanted.add(each.exprId());
    }
    List<AttributeReference> found = new ArrayList<>();
    if (!wanted.isEmpty() && change.originalTable() instanceof DataSourceV2Relation table) {
      for (AttributeReference each : CollectionConverters.asJava(table.metadataOutput())) {
        if (wanted.contains(each.exprId())) {
          found.add(each);
        }
      }
    }
    return found;
  }

  /** Returns a plan whose table reads more columns. Requires: each node has one child. */
  private static LogicalPlan reading(LogicalPlan plan, List<AttributeReference> more) {
    if (plan instanceof DataSourceV2Relation relation) {
      List<AttributeReference> all =
          new ArrayList<>(CollectionConverters.asJava(relation.output()));
      all.addAll(more);
      return relation.copy(
          relation.table(),
          SetColumns.seq(all),
          relation.catalog(),
          relation.identifier(),
          relation.options(),
          relation.timeTravelSpec());
    }
    LogicalPlan child = reading(plan.children().head(), more);
    return plan.withNewChildren(SetColumns.seq(List.of(child)));
  }
}
