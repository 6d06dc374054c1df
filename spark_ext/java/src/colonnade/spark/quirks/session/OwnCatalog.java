package colonnade.spark.quirks.session;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.internal.SQLConf;

/**
 * A rule that gives a session the catalog of the jar before Spark looks for it. A session that was
 * started with {@code --jars} alone, as by {@code spark-sql}, has the extension and no setting of a
 * catalog. A catalog that somebody has set stays.
 *
 * <p>Seen on Spark 4.1 and 4.3: catalogs are looked for after the rules for hints. The settings name
 * the classes of catalogs, because {@code CatalogManager} is a class on 4.1 and an interface on 4.3.
 */
public final class OwnCatalog extends Rule<LogicalPlan> {
  /** The first part of the names of the catalog's tables. */
  public static final String NAME = "colonnade";

  private static final String CATALOGS = "spark.sql.catalog.";
  private static final String CLASS = "colonnade.catalog.ColonnadeCatalog";

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    makeKnown();
    return plan;
  }

  /** Gives the session of this thread the catalog, unless it has one of this name. */
  public static void makeKnown() {
    if (!isCatalog(NAME) && RuleSwitch.isOn(OwnCatalog.class)) {
      SQLConf.get().setConfString(CATALOGS + NAME, CLASS);
    }
  }

  /** Whether the session of this thread has a catalog of this name. */
  public static boolean isCatalog(String name) {
    return SQLConf.get().contains(CATALOGS + name);
  }

  /** Whether the session of this thread has a catalog of this name, and it is one of Colonnade. */
  public static boolean isOwn(String name) {
    return isCatalog(name) && SQLConf.get().getConfString(CATALOGS + name).startsWith("colonnade.");
  }
}
