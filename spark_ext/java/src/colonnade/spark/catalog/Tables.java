package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.TableExists;
import colonnade.spark.feed.ChangesTable;
import colonnade.spark.quirks.statement.PlannedQuery;
import colonnade.spark.sink.ColonnadeTable;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.connector.expressions.Transform;

/** Finds the tables that names refer to. */
final class Tables {
  private static final String NOT_FOUND = "COLONNADE_NOT_FOUND";

  /** The kind of the static values of a table, which are a table like any other. */
  private static final String STATICS = "statics";

  /** The kind of the changes of a table. */
  private static final String CHANGES = "changes";

  private Tables() {}

  static boolean exists(TableName named) {
    return named.path() != null && exists(named.path());
  }

  static boolean exists(String path) {
    return exists(path, Map.of());
  }

  /** Whether there is a table at a path; {@code options} may have options of its store. */
  static boolean exists(String path, Map<String, String> options) {
    return Planner.call(new TableExists(path, options, PlannedQuery.number())).yes();
  }

  /**
   * Returns the metadata table of a name at the state that {@code options} name, by default the
   * newest.
   */
  static Table about(TableName named, Map<String, String> options) {
    return about(named.owner().path(), MetadataTable.kind(named.last()), options);
  }

  /**
   * Returns the metadata table of a kind of the table at a path, at the state that {@code options}
   * name. Only the table of static values has earlier versions.
   */
  static Table about(String path, String kind, Map<String, String> options) {
    if (kind.equals(STATICS)) {
      return ColonnadeTable.loadStatics(path, options);
    }
    if (options.isEmpty()) {
      return kind.equals(CHANGES)
          ? ChangesTable.load(path, options)
          : new MetadataTable(path, kind);
    }
    throw ColonnadeException.invalid(
        "Metadata table " + path + "." + kind + " has no earlier versions; leave out the version or"
            + " time.");
  }

  /** Whether a name refers to a metadata table. A real table of that name comes first. */
  static boolean isAbout(TableName named) {
    return named.canBeAbout()
        && MetadataTable.kind(named.last()) != null
        && exists(named.owner());
  }

  /**
   * Refuses a change of the metadata table of a name itself, unless the name is null. {@code
   * changed} is "dropped", for example.
   */
  static void refuse(TableName about, String changed) {
    if (about != null) {
      throw ColonnadeException.invalid(
          "Metadata table %s cannot be %s; it follows table %s.", about, changed, about.owner());
    }
  }

  /** Whether a table has the layout that a statement states. Returns true if it states none. */
  static boolean isLaidOut(ColonnadeTable table, Transform... said) {
    return said.length == 0 || table.isLaidOutAs(said);
  }

  /** Returns the table at the state that {@code options} name. */
  static ColonnadeTable load(Identifier identifier, TableName named, Map<String, String> options)
      throws NoSuchTableException {
    if (named.path() == null) {
      throw new NoSuchTableException(identifier);
    }
    if (identifier instanceof DataFramePath path) {
      // Spark asks for a DataFrame's path only to read it, so Colonnade's own message says more.
      return ColonnadeTable.load(named.path(), path.withStorage(options));
    }
    try {
      return load(named.path(), options);
    } catch (Exception error) {
      // For a path, Colonnade's own message says more than Spark's. A name that may be a file
      // format and a path is left to Spark.
      boolean ours = named.isPath() && !mayBeFiles(identifier);
      if (!ours && error instanceof ColonnadeException e && e.isNoSuchTable()) {
        throw new NoSuchTableException(identifier);
      }
      throw error;
    }
  }

  /**
   * Whether Spark may read the name as a format and a path, such as {@code parquet.`/data/files`}.
   */
  private static boolean mayBeFiles(Identifier identifier) {
    return identifier.namespace().length == 1 && TableName.isPath(identifier.name());
  }

  /** Returns a table in the form that a statement with these privileges needs. */
  static Table forStatement(Table table, Set<TableWritePrivilege> privileges) {
    if (table instanceof ChangesTable) {
      throw ColonnadeException.invalid(
          "Metadata table %s cannot be written, because it follows its table.", table.name());
    }
    return table instanceof ColonnadeTable ours
            && privileges.equals(Set.of(TableWritePrivilege.DELETE))
        ? ours.toDeleteFrom()
        : table;
  }

  /** Returns the table at a path. If there is none, throws an error that Spark understands. */
  static ColonnadeTable load(String path, Map<String, String> options) {
    try {
      return EvolvedTable.loaded(path).orElseGet(() -> ColonnadeTable.load(path, options));
    } catch (Exception error) {
      boolean notFound = error instanceof ColonnadeException e && e.code().equals(NOT_FOUND);
      if (notFound && !exists(path)) {
        throw ((ColonnadeException) error).asNoSuchTable().unchecked();
      }
      throw error;
    }
  }
}
