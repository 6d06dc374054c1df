package colonnade.spark.catalog;

import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.sink.ColonnadeTable;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.V1Table;

/** What Spark's own catalog stores about a Colonnade table: its format, its path and its owner. */
final class Registration {
  /** The property that marks a table that was created without a LOCATION. */
  private static final String OWNED = "colonnade.owned";

  private Registration() {}

  /** Returns the properties under which Spark's catalog stores a table. */
  static Map<String, String> properties(String path, boolean owned) {
    return Map.of(
        TableCatalog.PROP_PROVIDER, TableDesign.PROVIDER,
        TableCatalog.PROP_LOCATION, path,
        OWNED, Boolean.toString(owned));
  }

  /** Returns the table of the log that a table of Spark's catalog names, or the table itself. */
  static Table loaded(Table table) {
    String path = pathOf(table);
    return path == null || table instanceof ColonnadeTable
        ? table
        : Tables.load(path, Map.of()).registered(isOwned(table));
  }

  /** Whether a table was created without a LOCATION, so that DROP removes its files. */
  static boolean isOwned(Table table) {
    return Boolean.parseBoolean(table.properties().get(OWNED));
  }

  /** Returns the path of a Colonnade table, or null for a table of another format. */
  static String pathOf(Table table) {
    if (table instanceof ColonnadeTable ours) {
      return ours.path();
    }
    boolean ours =
        table instanceof V1Table
            && TableDesign.isOurs(table.properties().get(TableCatalog.PROP_PROVIDER));
    return ours ? Warehouse.localPath(table.properties().get(TableCatalog.PROP_LOCATION)) : null;
  }
}
