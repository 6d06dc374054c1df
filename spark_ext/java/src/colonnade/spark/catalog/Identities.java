package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses.Identity;
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

  /** Returns what the identity columns state, by name. */
  static Map<String, Identity> of(Column[] columns) {
    Map<String, Identity> found = new HashMap<>();
    for (Column column : columns) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      if (stated != null) {
        found.put(
            column.name(),
            new Identity(
                Long.toString(stated.getStart()),
                Long.toString(stated.getStep()),
                !stated.isAllowExplicitInsert()));
      }
    }
    return found;
  }

  /** Refuses identity columns of another format, because Spark's catalog would drop them. */
  static void refuseElsewhere(TableInfo info) {
    if (!of(info.columns()).isEmpty()) {
      throw ColonnadeException.invalid(
          "In spark_catalog only Colonnade tables can have identity columns.");
    }
  }
}
