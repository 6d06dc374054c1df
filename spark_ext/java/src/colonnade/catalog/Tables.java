package colonnade.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.source.ColonnadeTable;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/** Finding the tables that names stand for. */
final class Tables {
  private static final String NOT_FOUND = "COLONNADE_NOT_FOUND";

  private Tables() {}

  static boolean exists(TableName named) {
    return named.path() != null && exists(named.path());
  }

  static boolean exists(String path) {
    return Planner.call("table_exists", Map.of("path", path)).get("exists").asBoolean();
  }

  /** The table about a table that a name stands for, or null. */
  static Table about(TableName named) {
    return isAbout(named) ? new MetadataTable(named.owner().path(), named.last()) : null;
  }

  /** Whether a name stands for a table about a table; a real one of that name comes first. */
  static boolean isAbout(TableName named) {
    return named.canBeAbout()
        && MetadataTable.kinds().contains(named.last())
        && exists(named.owner());
  }

  /** The table at the state that {@code options} name. */
  static ColonnadeTable load(Identifier identifier, TableName named, Map<String, String> options)
      throws NoSuchTableException {
    if (named.path() == null) {
      throw new NoSuchTableException(identifier);
    }
    try {
      return ColonnadeTable.load(named.path(), options);
    } catch (Exception error) {
      // About a path our own sentence says more than Spark's, which looks for a file format.
      boolean sentence = named.isPath() || !isNotFound(error);
      if (sentence || exists(named)) {
        throw error;
      }
      throw new NoSuchTableException(identifier);
    }
  }

  private static boolean isNotFound(Exception error) {
    return error instanceof ColonnadeException refusal && refusal.code().equals(NOT_FOUND);
  }
}
