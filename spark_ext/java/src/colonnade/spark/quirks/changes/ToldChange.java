package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.RunningStatement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.InsertStarAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateStarAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.util.Utils;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that notes the condition and the clauses of a DELETE, UPDATE or MERGE for the history,
 * before Spark replaces the statement by a plan that does not show them. What Spark hides in its own
 * plans ({@code spark.sql.redaction.string.regex}) is hidden here, too.
 *
 * <p>Seen on Spark 4.1 and 4.3: the statements have their parameters already when the rule runs. A
 * node that replaces another one takes its tags over.
 */
public final class ToldChange extends Rule<LogicalPlan> {
  private static final TreeNodeTag<Map<String, Object>> TOLD =
      new TreeNodeTag<>("colonnade.told");

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = RowChanges.statement(plan);
    if (statement.getTagValue(TOLD).isEmpty()) {
      told(statement).ifPresent(told -> statement.setTagValue(TOLD, told));
    }
    return plan;
  }

  /** Returns what the running statement says, as the planner takes it; empty for any other one. */
  public static Map<String, Object> running() {
    return RunningStatement.plan().flatMap(ToldChange::find).orElse(Map.of());
  }

  private static Optional<Map<String, Object>> find(LogicalPlan plan) {
    Option<Map<String, Object>> told = plan.getTagValue(TOLD);
    return told.isDefined()
        ? Optional.of(told.get())
        : CollectionConverters.asJava(plan.children()).stream()
            .flatMap(child -> find(child).stream())
            .findFirst();
  }

  private static Optional<Map<String, Object>> told(LogicalPlan statement) {
    Map<String, Object> told = new LinkedHashMap<>();
    if (statement instanceof DeleteFromTable delete) {
      told.put("where", text(delete.condition()));
    } else if (statement instanceof UpdateTable update) {
      update.condition().foreach(condition -> told.put("where", text(condition)));
      told.put("set", text(update.assignments()));
    } else if (statement instanceof MergeIntoTable merge) {
      told.put("on", text(merge.mergeCondition()));
      told.put("matched", clauses(merge.matchedActions()));
      told.put("not_matched", clauses(merge.notMatchedActions()));
      told.put("not_matched_by_source", clauses(merge.notMatchedBySourceActions()));
    }
    return told.isEmpty() ? Optional.empty() : Optional.of(told);
  }

  private static List<Map<String, String>> clauses(Seq<MergeAction> actions) {
    List<Map<String, String>> clauses = new ArrayList<>();
    for (MergeAction action : CollectionConverters.asJava(actions)) {
      Map<String, String> clause = new LinkedHashMap<>();
      action.condition().foreach(condition -> clause.put("predicate", text(condition)));
      clause.put("actionType", "delete");
      if (action instanceof UpdateAction update) {
        clause.put("actionType", "update");
        clause.put("set", text(update.assignments()));
      } else if (action instanceof InsertAction insert) {
        clause.put("actionType", "insert");
        clause.put("set", text(insert.assignments()));
      } else if (action instanceof UpdateStarAction) {
        clause.put("actionType", "update");
        clause.put("set", "*");
      } else if (action instanceof InsertStarAction) {
        clause.put("actionType", "insert");
        clause.put("set", "*");
      }
      clauses.add(clause);
    }
    return clauses;
  }

  private static String text(Seq<Assignment> assignments) {
    return CollectionConverters.asJava(assignments).stream()
        .map(each -> text(each.key()) + " = " + text(each.value()))
        .collect(Collectors.joining(", "));
  }

  private static String text(Expression expression) {
    return Utils.redact(SQLConf.get().stringRedactionPattern(), expression.sql());
  }
}
