package colonnade.spark.quirks.session;

import static colonnade.spark.table.ScalaSeq.seq;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.analysis.Analyzer;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Gives the rules of an extension to a session that runs already. Spark reads extensions only when
 * it makes a session, and an analyzer never changes. Under {@code spark-submit}, in a notebook and
 * on a Spark Connect server the session is often there before the jar.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code Analyzer} asks its three lists of rules at each statement,
 * and keeps them in fields of the class that a session makes of it.
 */
public final class AnalyzerRules {
  /** The extensions of sessions that have been given the rules. */
  private static final Set<SparkSessionExtensions> GIVEN =
      Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

  private AnalyzerRules() {}

  /**
   * Whether these extensions are met for the first time. They may be met twice, because the jar
   * offers its extension by itself and a user may name it in {@code spark.sql.extensions}.
   */
  public static boolean isFirst(SparkSessionExtensions extensions) {
    return GIVEN.add(extensions);
  }

  /** Returns whether the session of this thread has every rule that {@code extension} injects. */
  public static boolean areIn(Consumer<SparkSessionExtensions> extension) {
    SparkSession session = SparkSession.active();
    Analyzer analyzer = session.sessionState().analyzer();
    SparkSessionExtensions own = own(extension);
    return missing(analyzer.hintResolutionRules(), own.buildHintResolutionRules(session)).isEmpty()
        && missing(analyzer.extendedResolutionRules(), own.buildResolutionRules(session)).isEmpty()
        && missing(analyzer.postHocResolutionRules(), own.buildPostHocResolutionRules(session))
            .isEmpty();
  }

  /**
   * Gives the session of this thread, from its next statement on, the rules that {@code extension}
   * injects and the session lacks. Sessions that are made from it have them, too, if the jar is not
   * this session's alone.
   *
   * @throws ReflectiveOperationException if this version of Spark keeps its rules elsewhere
   */
  public static void add(Consumer<SparkSessionExtensions> extension)
      throws ReflectiveOperationException {
    SparkSession session = SparkSession.active();
    synchronized (session) {
      if (isSharedBySessions(session)) {
        extension.accept(session.extensions());
      }
      Analyzer analyzer = session.sessionState().analyzer();
      SparkSessionExtensions own = own(extension);
      add(analyzer, "hintResolutionRules", analyzer.hintResolutionRules(),
          own.buildHintResolutionRules(session));
      add(analyzer, "extendedResolutionRules", analyzer.extendedResolutionRules(),
          own.buildResolutionRules(session));
      add(analyzer, "postHocResolutionRules", analyzer.postHocResolutionRules(),
          own.buildPostHocResolutionRules(session));
    }
  }

  private static SparkSessionExtensions own(Consumer<SparkSessionExtensions> extension) {
    SparkSessionExtensions own = new SparkSessionExtensions();
    extension.accept(own);
    return own;
  }

  /** Whether this jar is where all sessions find it, and not among the artifacts of one session. */
  private static boolean isSharedBySessions(SparkSession session) {
    ClassLoader ours = AnalyzerRules.class.getClassLoader();
    ClassLoader each = session.sharedState().jarClassLoader();
    while (each != null && each != ours) {
      each = each.getParent();
    }
    return each != null;
  }

  private static void add(
      Analyzer analyzer,
      String name,
      Seq<Rule<LogicalPlan>> present,
      Seq<Rule<LogicalPlan>> wanted)
      throws ReflectiveOperationException {
    List<Rule<LogicalPlan>> all = new ArrayList<>(CollectionConverters.asJava(present));
    if (all.addAll(missing(present, wanted))) {
      Field field = analyzer.getClass().getDeclaredField(name);
      field.setAccessible(true);
      field.set(analyzer, seq(all));
    }
  }

  private static List<Rule<LogicalPlan>> missing(
      Seq<Rule<LogicalPlan>> present, Seq<Rule<LogicalPlan>> wanted) {
    return CollectionConverters.asJava(wanted).stream()
        .filter(rule -> !present.contains(rule))
        .toList();
  }
}
