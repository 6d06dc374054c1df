package colonnade.spark.quirks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Gives the session that plans in this thread rules and strategies of ours, from its next query on.
 * Extensions would do the same, but only for sessions that were started with the jar.
 */
public final class SessionRules {
  private SessionRules() {}

  /** Those that concern tables, wherever a session has them from. */
  public static void use() {
    withMethods(
        methods ->
            add(
                AnswersAsRows.RULE,
                methods::extraOptimizations,
                methods::extraOptimizations_$eq));
    addStrategy(ViewChanges.STRATEGY);
  }

  /** A strategy that is asked before Spark's own; one that is there already stays alone. */
  public static void addStrategy(SparkStrategy strategy) {
    withMethods(
        methods -> add(strategy, methods::extraStrategies, methods::extraStrategies_$eq));
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
      replace.accept(CollectionConverters.asScala(all).toSeq());
    }
  }
}
