package colonnade.spark.quirks.changes;

import colonnade.planner.messages.Clauses.Clause;
import colonnade.planner.messages.Clauses.HistoryText;
import colonnade.spark.quirks.statement.RunningStatement;
import java.util.List;
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
 * A rule that records the condition and the clauses of a DELETE, UPDATE or MERGE for the history,
 * before Spark replaces the statement by a plan that does not show them. What Spark hides in its own
 * plans ({@code spark.sql.redaction.string.regex}) is hidden here, too.
 *
 * <p>Seen on Spark 4.1 and 4.3: the statements have their parameters already when the rule runs. A
 * node that replaces another one takes its tags over.
 */
public final class HistoryTexts extends Rule<LogicalPlan> {
  /** What any other statement says. */
  public static final HistoryText NOTHING =
      new HistoryText(null, null, null, List.of(), List.of(), List.of());

  private static final TreeNodeTag<HistoryText> TEXT = new TreeNodeTag<>("colonnade.history");

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = RowChanges.statement(plan);
    if (statement.getTagValue(TEXT).isEmpty()) {
      textOf(statement).ifPresent(text -> statement.setTagValue(TEXT, text));
    }
    return plan;
  }

  /** Returns what the running statement says. */
  public static HistoryText running() {
    return RunningStatement.plan().flatMap(HistoryTexts::find).orElse(NOTHING);
  }

  private static Optional<HistoryText> find(LogicalPlan plan) {
    Option<HistoryText> found = plan.getTagValue(TEXT);
    return found.isDefined()
        ? Optional.of(found.get())
        : CollectionConverters.asJava(plan.children()).stream()
            .flatMap(child -> find(child).stream())
            .findFirst();
  }

  private static Optional<HistoryText> textOf(LogicalPlan statement) {
    if (statement instanceof DeleteFromTable delete) {
      return Optional.of(ofRows(text(delete.condition()), null));
    }
    if (statement instanceof UpdateTable update) {
      Option<Expression> condition = update.condition();
      String where = condition.isDefined() ? text(condition.get()) : null;
      return Optional.of(ofRows(where, text(update.assignments())));
    }
    if (statement instanceof MergeIntoTable merge) {
      return Optional.of(
          new HistoryText(
              null,
              text(merge.mergeCondition()),
              null,
              clauses(merge.matchedActions()),
              clauses(merge.notMatchedActions()),
              clauses(merge.notMatchedBySourceActions())));
    }
    return Optional.empty();
  }

  private static HistoryText ofRows(String where, String set) {
    return new HistoryText(where, null, set, List.of(), List.of(), List.of());
  }

  private static List<Clause> clauses(Seq<MergeAction> actions) {
    return CollectionConverters.asJava(actions).stream().map(HistoryTexts::clause).toList();
  }

  private static Clause clause(MergeAction action) {
    Option<Expression> condition = action.condition();
    String predicate = condition.isDefined() ? text(condition.get()) : null;
    if (action instanceof UpdateAction update) {
      return new Clause("update", predicate, text(update.assignments()));
    }
    if (action instanceof InsertAction insert) {
      return new Clause("insert", predicate, text(insert.assignments()));
    }
    if (action instanceof UpdateStarAction) {
      return new Clause("update", predicate, "*");
    }
    return action instanceof InsertStarAction
        ? new Clause("insert", predicate, "*")
        : new Clause("delete", predicate, null);
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
