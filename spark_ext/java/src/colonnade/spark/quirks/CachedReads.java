package colonnade.spark.quirks;

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
 * What Spark has cached of tables. After a write Spark itself refreshes what was cached under the
 * very name that was written; a table has other names, such as its path.
 */
public final class CachedReads {
  private CachedReads() {}

  /**
   * Lets Spark read the table at {@code path} anew, where it has cached its newest state. Within a
   * transaction it forgets that: all sessions share what is cached, and only this one may see it.
   */
  public static void refresh(String path) {
    refresh(table -> table.path().equals(path));
  }

  /** The same of all tables. */
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
      // Spark looks for what it should refresh in a plan, but not in the subqueries of it.
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
        // The table is gone or has other columns. Spark has forgotten what it cannot read anew, and
        // whoever asks for it is told then; the write that brought us here has been done.
        continue;
      }
    }
  }

  /** The relations of tables at their newest state which a plan reads, without its subqueries. */
  private static Set<LogicalPlan> reads(LogicalPlan plan, Predicate<TableAtEpoch> changed) {
    Set<LogicalPlan> found = new HashSet<>();
    for (LogicalPlan leaf : CollectionConverters.asJava(plan.collectLeaves())) {
      if (leaf instanceof DataSourceV2Relation relation
          && relation.table() instanceof TableAtEpoch table
          && !table.loaded().get("pinned").asBoolean()
          && changed.test(table)) {
        found.add(leaf.canonicalized());
      }
    }
    return found;
  }

  /** Spark gives nobody the list of what it has cached, nor refreshes by a condition. */
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
