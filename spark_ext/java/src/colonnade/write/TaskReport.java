package colonnade.write;

import colonnade.format.rowset.RowNumbers;
import colonnade.format.rowset.RowSetEntry;
import java.util.List;

/**
 * The report of a task to its driver, as JSON that tableformat/statements/task_reports.py reads.
 *
 * @param rowsets the RowSets that it wrote
 * @param deleted the rows that it deleted
 * @param origins for each RowSet, where its rows come from; null if all of them are new
 * @param statics null if the task takes no static values
 */
record TaskReport(
    List<RowSetEntry> rowsets,
    RowNumbers deleted,
    List<String> origins,
    RowWriter.Statics statics) {
  static TaskReport of(RowWriter.Written written, RowNumbers deleted) {
    return new TaskReport(written.entries(), deleted, written.origins(), written.statics());
  }
}
