package colonnade.spark.catalog;

import colonnade.planner.messages.Changes.Change;
import colonnade.planner.messages.Views.RowsToWrite;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.sink.ColonnadeTable;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The table of a statement WITH SCHEMA EVOLUTION, with the columns that the statement brings. While
 * Spark analyzes the statement, it has the catalog alter the table, and then loads the altered
 * table in the same thread. The alteration itself happens in the epoch of the rows. So a statement
 * that is refused or only explained changes nothing.
 */
final class EvolvedTable {
  private record Named(String path, ColonnadeTable table) {}

  private static final ThreadLocal<Named> LAST = new ThreadLocal<>();

  private EvolvedTable() {}

  /** Returns the table at a path with the changes that Spark asks for, and keeps it for the load. */
  static ColonnadeTable of(String path, List<Change> changes) {
    // Spark that does not ask which changes are possible insists on all of them.
    boolean exact = !ColonnadeTable.canChooseChanges();
    RowsToWrite rows = new RowsToWrite(null, true, changes, exact);
    ColonnadeTable evolved = ColonnadeTable.load(path, Map.of()).forRows(rows, Map.of());
    LAST.set(new Named(path, evolved));
    return evolved;
  }

  /** Returns the table that Spark loads after it had it altered; nothing for any other load. */
  static Optional<ColonnadeTable> loaded(String path) {
    Named last = LAST.get();
    if (last == null || !last.path.equals(path) || !Caller.isSchemaEvolution()) {
      return Optional.empty();
    }
    LAST.remove();
    return Optional.of(last.table);
  }
}
