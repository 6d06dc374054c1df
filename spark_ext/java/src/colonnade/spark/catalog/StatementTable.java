package colonnade.spark.catalog;

import colonnade.spark.quirks.session.OwnCatalog;
import colonnade.spark.table.UserPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;

/**
 * A table of Colonnade that a statement names, as its procedures take it. The name leads where it
 * leads in a query. A path may also be relative to the folder of the driver, as that of {@code
 * spark.read.load}.
 *
 * @param catalog the catalog whose procedures to call
 * @param name the name or path of the table in SQL
 */
public record StatementTable(String catalog, String name) {

  /** Returns the table of a name; nothing if the name leads to another table, or nowhere. */
  public static Optional<StatementTable> find(List<String> parts) {
    String first = parts.get(0);
    boolean said = parts.size() > 1;
    if (said && first.equalsIgnoreCase(NamedTable.SESSION_CATALOG)) {
      return inSessionCatalog(parts.subList(1, parts.size()));
    } else if (said && OwnCatalog.isCatalog(first)) {
      return OwnCatalog.isOwn(first) ? Optional.of(inOwnCatalog(parts)) : Optional.empty();
    }
    String current = SparkSession.active().catalog().currentCatalog();
    if (current.equals(NamedTable.SESSION_CATALOG)) {
      return inSessionCatalog(parts);
    }
    return OwnCatalog.isOwn(current) ? inCurrentCatalog(current, parts) : Optional.empty();
  }

  /** Returns the table at a path; nothing if no table of Colonnade is there. */
  public static Optional<StatementTable> atPath(String path) {
    String absolute = UserPath.absolute(path);
    return Tables.exists(absolute)
        ? Optional.of(of(OwnCatalog.NAME, List.of(absolute)))
        : Optional.empty();
  }

  /** A path without a slash looks like a name, and is one if the catalog has such a table. */
  private static StatementTable inOwnCatalog(List<String> parts) {
    StatementTable named = of(parts.get(0), parts);
    boolean mayBePath = parts.size() == 2 && !TableName.isPath(parts.get(1));
    return mayBePath && !SparkSession.active().catalog().tableExists(named.name())
        ? atPath(parts.get(1)).orElse(named)
        : named;
  }

  private static Optional<StatementTable> inSessionCatalog(List<String> parts) {
    return NamedTable.ownSessionTable(parts).map(path -> of(OwnCatalog.NAME, List.of(path)));
  }

  private static Optional<StatementTable> inCurrentCatalog(String current, List<String> parts) {
    String last = parts.get(parts.size() - 1);
    if (TableName.isPath(last)) {
      return atPath(last); // The name may be that of another format, as in delta.`/data/t`.
    }
    List<String> all = new ArrayList<>(List.of(current));
    if (parts.size() == 1) {
      all.add(NamedTable.currentDatabase(current));
    }
    all.addAll(parts);
    return Optional.of(of(current, all));
  }

  private static StatementTable of(String catalog, List<String> parts) {
    String name =
        parts.stream()
            .map(part -> TableName.isPath(part) ? UserPath.absolute(part) : part)
            .map(part -> "`" + part.replace("`", "``") + "`")
            .collect(Collectors.joining("."));
    return new StatementTable(catalog, name);
  }
}
