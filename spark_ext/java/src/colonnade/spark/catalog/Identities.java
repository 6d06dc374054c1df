package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableInfo;

/** Identity columns of statements in the planner's terms. */
final class Identities {
  private Identities() {}

  /** Returns the capabilities of a catalog whose tables may have identity columns. */
  static Set<TableCatalogCapability> supported(Set<TableCatalogCapability> others) {
    Set<TableCatalogCapability> all = new TreeSet<>(others);
    all.add(TableCatalogCapability.SUPPORTS_CREATE_TABLE_WITH_IDENTITY_COLUMNS);
    return all;
  }

  /** Returns what the identity columns state, by name. Numbers are texts, as in replies. */
  static Map<String, Object> of(Column[] columns) {
    Map<String, Object> found = new HashMap<>();
    for (Column column : columns) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      if (stated != null) {
        found.put(
            column.name(),
            Map.of(
                "start", Long.toString(stated.getStart()),
                "step", Long.toString(stated.getStep()),
                "always", !stated.isAllowExplicitInsert()));
      }
    }
    return found;
  }

  /** Refuses identity columns of another format, because Spark's catalog would drop them. */
  static void refuseElsewhere(TableInfo info) {
    if (!of(info.columns()).isEmpty()) {
      throw ColonnadeException.unchecked(
          "COLONNADE_INVALID_INPUT",
          "In spark_catalog only Colonnade tables can have identity columns.");
    }
  }
}
