package colonnade.spark.quirks.rules;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.quirks.session.SwitchedRule;
import colonnade.spark.quirks.session.SwitchedStrategy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Adds rules and strategies to the session of this thread, from its next query on. Extensions would
 * do the same, but only for sessions that were started with the jar.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ExperimentalMethods.extraOptimizations} and {@code
 * extraStrategies}.
 */
public final class SessionRules {
  private SessionRules() {}

  /** Adds a rule that Spark applies after those of its own optimizer. */
  static void addRule(Rule<LogicalPlan> rule) {
    Rule<LogicalPlan> switched = new SwitchedRule(rule);
    withMethods(
        methods ->
            add(switched, methods::extraOptimizations, methods::extraOptimizations_$eq));
  }

  /** Adds a strategy that Spark asks before its own, unless the session has it already. */
  public static void addStrategy(SparkStrategy strategy) {
    SparkStrategy switched = new SwitchedStrategy(strategy);
    withMethods(
        methods -> add(switched, methods::extraStrategies, methods::extraStrategies_$eq));
  }

  private static void withMethods(Consumer<ExperimentalMethods> change) {
    Option<SparkSession> session = SparkSession.getActiveSession();
    if (session.isDefined()) {
      ExperimentalMethods methods = session.get().experimental();
      synchronized (methods) {
        change.accept(methods);
      }
    }
  }

  private static <T> void add(T one, Supplier<Seq<T>> present, Consumer<Seq<T>> replace) {
    List<T> all = new ArrayList<>(CollectionConverters.asJava(present.get()));
    if (!all.contains(one)) {
      all.add(one);
      replace.accept(seq(all));
    }
  }
}
