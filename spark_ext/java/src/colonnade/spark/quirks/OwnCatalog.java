package colonnade.spark.quirks;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.internal.SQLConf;

/**
 * A rule that gives a session the catalog of the jar before Spark looks for it. A session that was
 * started with {@code --jars} alone, as by {@code spark-sql}, has the extension and no setting of a
 * catalog. A catalog that somebody has set stays.
 *
 * <p>Seen on Spark 4.1 and 4.3: catalogs are looked for after the rules for hints.
 */
public final class OwnCatalog extends Rule<LogicalPlan> {
  private final String setting;
  private final String catalog;

  /** Creates the rule for the setting of a catalog and the name of its class. */
  public OwnCatalog(String setting, String catalog) {
    this.setting = setting;
    this.catalog = catalog;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    makeKnown(setting, catalog);
    return plan;
  }

  /** Sets a catalog in the session of this thread unless it has one of this name. */
  public static void makeKnown(String setting, String catalog) {
    SQLConf conf = SQLConf.get();
    if (!conf.contains(setting)) {
      conf.setConfString(setting, catalog);
    }
  }
}
