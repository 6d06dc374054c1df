package colonnade.spark.quirks.reads;

import colonnade.planner.Planner;
import colonnade.spark.table.TableAtEpoch;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CacheManager;
import org.apache.spark.sql.execution.CachedData;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The cached queries of Spark that read Colonnade tables. After a write Spark refreshes the queries
 * that name the table as the write did; a table has other names, such as its path.
 *
 * <p>Seen on Spark 4.1 and 4.3: the private field {@code cachedData} of {@code CacheManager},
 * {@code recacheByPlan} and {@code uncacheQuery}.
 */
public final class CachedReads {
  /** What the name of a table of static values has behind the name of its table. */
  private static final String STATICS = ".statics";

  private CachedReads() {}

  /**
   * Makes Spark read the newest state of the table at {@code path} again where it has cached it.
   * Within a transaction Spark drops the cached rows instead, because all sessions share the cache
   * and only this one may see the new rows.
   */
  public static void refresh(String path) {
    refresh(table -> together(table.path()).equals(together(path)));
  }

  /**
   * Returns the same path for a table and for that of its static values, since a change of one
   * shows in both.
   */
  private static String together(String path) {
    return path.endsWith(STATICS) ? path.substring(0, path.length() - STATICS.length()) : path;
  }

  /**
   * Refreshes the cached reads of all Colonnade tables, as {@link #refresh(String)} does of one.
   */
  public static void refreshAll() {
    refresh(table -> true);
  }

  private static void refresh(Predicate<TableAtEpoch> changed) {
    SparkSession session = SparkSession.active();
    CacheManager manager = session.sharedState().cacheManager();
    if (manager.isEmpty()) {
      return;
    }
    Set<LogicalPlan> stale = new HashSet<>();
    for (CachedData cached : entries(manager)) {
      stale.addAll(reads(cached.plan(), changed));
      // Spark searches only the plan itself for relations to refresh, not its subqueries.
      boolean inside =
          CollectionConverters.asJava(cached.plan().subqueriesAll()).stream()
              .anyMatch(subquery -> !reads(subquery, changed).isEmpty());
      if (inside) {
        stale.add(cached.plan());
      }
    }
    boolean within = Planner.transaction() != null;
    for (LogicalPlan relation : stale) {
      if (within) {
        manager.uncacheQuery(session, relation, true);
        continue;
      }
      try {
        manager.recacheByPlan(session, relation);
      } catch (Exception unreadable) {
        // The table was dropped or has other columns. Spark forgets a cached query that it cannot
        // read again, and reports the error to the next query that needs it. The write itself has
        // succeeded.
        continue;
      }
    }
  }

  /**
   * Returns the relations of changed tables in a plan at their newest state, without its
   * subqueries.
   */
  private static Set<LogicalPlan> reads(LogicalPlan plan, Predicate<TableAtEpoch> changed) {
    Set<LogicalPlan> found = new HashSet<>();
    for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      if (leaf instanceof DataSourceV2Relation relation
          && relation.table() instanceof TableAtEpoch table
          && !table.loaded().pinned()
          && changed.test(table)) {
        found.add(leaf.canonicalized());
      }
    }
    return found;
  }

  /** The list of cached queries, which no method of Spark returns. */
  @SuppressWarnings("unchecked")
  private static List<CachedData> entries(CacheManager manager) {
    try {
      var field = CacheManager.class.getDeclaredField("cachedData");
      field.setAccessible(true);
      return CollectionConverters.asJava((Seq<CachedData>) field.get(manager));
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error); // some other Spark than those we are tested with
    }
  }
}
