package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.CreateDatabase;
import colonnade.planner.messages.Catalog.DatabaseExists;
import colonnade.planner.messages.Catalog.DropDatabase;
import colonnade.planner.messages.Catalog.ListDatabases;
import colonnade.planner.messages.Catalog.ListTables;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The folder of a catalog, and the databases in it. A namespace is the name of one, or the path of
 * one anywhere.
 */
public record Warehouse(String path) {

  /**
   * Returns the folder in the catalog's option {@code warehouse}, or the default folder in Spark's
   * own warehouse.
   */
  static Warehouse configured(CaseInsensitiveStringMap options) {
    String given = options.get("warehouse");
    return new Warehouse(
        localPath(given != null ? given : SQLConf.get().warehousePath() + "/colonnade"));
  }

  /** Returns the path without its URL scheme if it is on a local disk. */
  public static String localPath(String location) {
    return localPath(new Path(location));
  }

  /** Returns the local path of a path that may be relative to {@code folder}. */
  static String localPath(String location, String folder) {
    Path path = new Path(location);
    return localPath(path.isUriPathAbsolute() ? path : new Path(folder, path));
  }

  private static String localPath(Path path) {
    String scheme = path.toUri().getScheme();
    boolean local = scheme == null || scheme.equals("file");
    return local ? path.toUri().getPath() : path.toString();
  }

  String[][] list() {
    return Planner.call(new ListDatabases(path)).names().stream()
        .map(name -> new String[] {name})
        .toArray(String[][]::new);
  }

  /**
   * Whether a database exists. {@code default} always exists; its folder is created with its first
   * table.
   */
  boolean has(String... namespace) {
    return namespace.length == 1 && (isDefault(namespace) || isDatabase(databasePath(namespace)));
  }

  private static boolean isDefault(String... namespace) {
    return namespace.length == 1 && namespace[0].equals(TableName.DEFAULT_DATABASE);
  }

  private static boolean isDatabase(String path) {
    return Planner.call(new DatabaseExists(path)).yes();
  }

  private String databasePath(String... namespace) {
    return TableName.database(path, namespace[0]);
  }

  /** Returns the path of an existing database. */
  String require(String... namespace) throws NoSuchNamespaceException {
    if (!has(namespace)) {
      throw new NoSuchNamespaceException(namespace);
    }
    return databasePath(namespace);
  }

  /** Returns the path of a database for a new table, and creates the default database. */
  String requireForTable(String... namespace) throws NoSuchNamespaceException {
    String database = require(namespace);
    if (isDefault(namespace) && !isDatabase(database)) {
      Planner.call(new CreateDatabase(database));
    }
    return database;
  }

  String[] tables(String... namespace) throws NoSuchNamespaceException {
    String database = require(namespace);
    if (isDefault(namespace) && !isDatabase(database)) {
      return new String[0];
    }
    return Planner.call(new ListTables(database)).names().toArray(String[]::new);
  }

  void create(String[] namespace, Map<String, String> properties)
      throws NamespaceAlreadyExistsException {
    for (String key : properties.keySet()) {
      if (!Set.of(SupportsNamespaces.PROP_OWNER).contains(key)) {
        throw ColonnadeException.invalid(
            "A Colonnade database is a folder of tables and has no " + key + "; leave it out.");
      }
    }
    if (namespace.length == 1 && isDatabase(databasePath(namespace))) {
      throw new NamespaceAlreadyExistsException(namespace);
    }
    requireOneName(namespace);
    Planner.call(new CreateDatabase(databasePath(namespace)));
  }

  private static void requireOneName(String... namespace) {
    if (namespace.length != 1) {
      String name = String.join(".", namespace);
      throw ColonnadeException.invalid(
          name + " cannot be a database, because databases do not nest; give a name of one part.");
    }
  }

  boolean drop(String[] namespace, boolean cascade)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    if (namespace.length != 1 || !isDatabase(databasePath(namespace))) {
      throw new NoSuchNamespaceException(namespace);
    }
    if (!Planner.call(new DropDatabase(databasePath(namespace), cascade)).yes()) {
      throw new NonEmptyNamespaceException(namespace);
    }
    return true;
  }
}
