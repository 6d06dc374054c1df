package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.DatabaseInItsCase;
import colonnade.planner.messages.Catalog.TableInItsCase;
import colonnade.planner.messages.Question;
import colonnade.planner.messages.Replies;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.table.UserPath;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.internal.SQLConf;

/**
 * What an identifier names: a path, and below it a table of a database and a table about a table.
 *
 * <pre>
 *   `/data/trips`              the table, or the database, at that path
 *   `/data/sales`.orders       the table at /data/sales/orders
 *   sales.orders               the same where /data is the warehouse
 *   sales.orders.history       the table `history` about it
 * </pre>
 *
 * <p>Names of databases and tables lead to what exists in whatever case, as in Delta and in Hive,
 * unless {@code spark.sql.caseSensitive} is set. A name that is written as it is comes first.
 *
 * @param root path of a lone table or of a database
 * @param rest the names that follow
 * @param isPath whether the root was given as a path
 */
record TableName(String root, List<String> rest, boolean isPath) {
  static final String DEFAULT_DATABASE = "default";

  /** Reads an identifier of a catalog whose databases are in the folder {@code warehouse}. */
  static TableName of(String warehouse, Identifier identifier) {
    List<String> parts = new ArrayList<>(List.of(identifier.namespace()));
    parts.add(identifier.name());
    return of(warehouse, parts);
  }

  /** Reads the parts of a name. Parts before a path are ignored. */
  static TableName of(String warehouse, List<String> parts) {
    for (int at = parts.size() - 1; at >= 0; at--) {
      if (isPath(parts.get(at))) {
        refuseRelative(parts.get(at));
        return new TableName(
            parts.get(at), inItsCase(parts.get(at), parts.subList(at + 1, parts.size())), true);
      }
    }
    if (parts.size() == 1) {
      String root = database(warehouse, DEFAULT_DATABASE);
      return new TableName(root, inItsCase(root, parts), false);
    }
    String root = database(warehouse, parts.get(0));
    return new TableName(root, inItsCase(root, parts.subList(1, parts.size())), false);
  }

  /** The author of a statement does not know the working folder of the driver. */
  private static void refuseRelative(String path) {
    if (UserPath.isRelative(path)) {
      throw ColonnadeException.invalid(
          "Path " + path + " is relative; write it from the root, as in `/data/t`.");
    }
  }

  /**
   * Returns the path of a database of the warehouse. A name that is a path is returned unchanged.
   */
  static String database(String warehouse, String name) {
    if (isPath(name)) {
      return name;
    }
    DatabaseInItsCase request = new DatabaseInItsCase(warehouse, name, PlannedQuery.number());
    return warehouse + "/" + inItsCase(name, request);
  }

  /** Returns the names that follow a root, with the table as its database names it. */
  private static List<String> inItsCase(String root, List<String> rest) {
    if (rest.isEmpty()) {
      return rest;
    }
    List<String> names = new ArrayList<>(rest);
    TableInItsCase request = new TableInItsCase(root, rest.get(0), PlannedQuery.number());
    names.set(0, inItsCase(rest.get(0), request));
    return names;
  }

  private static String inItsCase(String name, Question<Replies.Name> request) {
    return SQLConf.get().caseSensitiveAnalysis() ? name : Planner.call(request).name();
  }

  /** Whether a name must be a path, because it cannot name a table or database. */
  static boolean isPath(String name) {
    return name.indexOf('/') >= 0;
  }

  /**
   * Returns the path of the table if all names are databases and tables; null if there are too many
   * names.
   */
  String path() {
    return switch (rest.size()) {
      case 0 -> root;
      case 1 -> root + "/" + rest.get(0);
      default -> null;
    };
  }

  /** Returns the name without its last part, which is then the name of a metadata table. */
  TableName owner() {
    return new TableName(root, rest.subList(0, rest.size() - 1), isPath);
  }

  /** Returns the last name, or null if there is only a path. */
  String last() {
    return rest.isEmpty() ? null : rest.get(rest.size() - 1);
  }

  /** Whether the last name may be that of a metadata table of the table before it. */
  boolean canBeAbout() {
    return rest.size() == 2 || (isPath && rest.size() == 1);
  }

  @Override
  public String toString() {
    return rest.isEmpty() ? root : root + "." + String.join(".", rest);
  }
}
