package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.design.TableDesign;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Finds the table that a text names, such as the argument {@code table} of a procedure. */
final class NamedTable {
  static final String SESSION_CATALOG = "spark_catalog";

  private NamedTable() {}

  /**
   * Returns the path of the table. The text is a path, or a name that may start with {@code
   * catalog} or {@code spark_catalog}. A name without a catalog is looked up in both, in this
   * order.
   */
  static String path(String catalog, String warehouse, String text) {
    if (TableName.isPath(text) && text.indexOf('`') < 0) {
      return text;
    }
    List<String> parts =
        new ArrayList<>(
            CollectionConverters.asJava(
                CatalystSqlParser$.MODULE$.parseMultipartIdentifier(text)));
    if (parts.size() > 1 && parts.get(0).equalsIgnoreCase(SESSION_CATALOG)) {
      return sessionPath(text, parts.subList(1, parts.size()));
    }
    boolean inCatalog = parts.size() > 1 && parts.get(0).equals(catalog);
    if (inCatalog || parts.stream().anyMatch(TableName::isPath)) {
      return path(warehouse, text, inCatalog ? parts.subList(1, parts.size()) : parts);
    }
    if (parts.size() > 2) {
      return refuse(text, "give database.table or a path");
    }
    String last = parts.get(parts.size() - 1);
    String database = parts.size() == 2 ? parts.get(0) : currentDatabase(catalog);
    String path = path(warehouse, text, List.of(database, last));
    return Tables.exists(path) ? path : sessionTable(text, parts).orElse(path);
  }

  private static String path(String warehouse, String text, List<String> parts) {
    String path = TableName.of(warehouse, parts).path();
    return path == null ? refuse(text, "give database.table or a path") : path;
  }

  /**
   * Returns the path of the database that a text names by its path or by its name, with or without
   * the catalog.
   */
  static String database(String catalog, String warehouse, String text) {
    String prefix = catalog + ".";
    String name = text.startsWith(prefix) ? text.substring(prefix.length()) : text;
    return TableName.database(warehouse, name);
  }

  private static String sessionPath(String text, List<String> parts) {
    String advice = "give spark_catalog.database.table";
    if (parts.size() > 2) {
      return refuse(text, advice);
    }
    return sessionTable(text, parts).orElseGet(() -> refuse(text, advice));
  }

  /**
   * Returns the path of a table of Spark's own catalog, or nothing if that catalog has no such
   * table.
   */
  private static Optional<String> sessionTable(String text, List<String> parts) {
    Optional<CatalogTable> table = inSessionCatalog(parts);
    if (table.isPresent() && !isOurs(table.get())) {
      throw ColonnadeException.invalid("Table " + text + " is of another format, not Colonnade's.");
    }
    return table.map(NamedTable::place);
  }

  /**
   * Returns the path of a table of Colonnade in Spark's own catalog; nothing if the name leads to
   * another table, to a temporary view, or nowhere.
   */
  static Optional<String> ownSessionTable(List<String> parts) {
    return inSessionCatalog(parts).filter(NamedTable::isOurs).map(NamedTable::place);
  }

  /** Returns the table of a name in Spark's own catalog; nothing if a temporary view hides it. */
  private static Optional<CatalogTable> inSessionCatalog(List<String> parts) {
    if (parts.size() > 2) {
      return Optional.empty();
    }
    Option<String> database = Option.apply(parts.size() == 1 ? null : parts.get(0));
    TableIdentifier name = new TableIdentifier(parts.get(parts.size() - 1), database);
    var catalog = SparkSession.active().sessionState().catalog();
    try {
      return catalog.isTempView(name)
          ? Optional.empty()
          : Optional.of(catalog.getTableMetadata(name));
    } catch (AnalysisException missing) {
      return Optional.empty();
    }
  }

  private static boolean isOurs(CatalogTable table) {
    return table.provider().exists(TableDesign::isOurs);
  }

  private static String place(CatalogTable table) {
    return Warehouse.localPath(table.location().toString());
  }

  private static String refuse(String text, String advice) {
    throw ColonnadeException.unchecked(
        "COLONNADE_NOT_FOUND",
        "Table " + text + " does not exist: " + advice + ".");
  }

  /**
   * Returns the database of the last USE if that was in this catalog, else the catalog's default.
   */
  static String currentDatabase(String catalog) {
    org.apache.spark.sql.catalog.Catalog current = SparkSession.active().catalog();
    return current.currentCatalog().equals(catalog)
        ? CatalystSqlParser$.MODULE$.parseMultipartIdentifier(current.currentDatabase()).last()
        : TableName.DEFAULT_DATABASE;
  }
}
