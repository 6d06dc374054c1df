package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.planner.messages.Rewrites.AskedRowSet;
import colonnade.planner.messages.Rewrites.ChooseColumns;
import colonnade.planner.messages.Rewrites.ChosenColumns;
import colonnade.planner.messages.Rewrites.Update;
import colonnade.planner.messages.Rewrites.UpdatedRowsets;
import colonnade.planner.messages.Writes.ReplacedColumns;
import colonnade.spark.quirks.changes.SetColumns;
import colonnade.write.columns.RewrittenColumns;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.internal.SQLConf;

/**
 * An UPDATE or MERGE that replaces the columns that it sets, in the RowSets where that takes far
 * fewer bytes than to move the changed rows. In the other RowSets, rows move. One commit makes both
 * visible, with the rows that a MERGE inserts or deletes.
 */
final class ColumnChange {
  private static final WriterCommitMessage[] NO_ROWS = {};

  /** The setting of the fewest stored bytes of changed rows for which columns are replaced. */
  private static final String LEAST_SETTING = "spark.colonnade.replaceColumnsBytes";

  private final PlannedWrite planned;
  private final RowChange change;
  private final SetColumns columns;

  ColumnChange(PlannedWrite planned, RowChange change, SetColumns columns) {
    this.planned = planned;
    this.change = change;
    this.columns = columns;
  }

  /**
   * Runs the statement. Returns false, and has changed nothing, if no column is to be replaced, or
   * if a concurrent writer is in the way of replaced columns, but perhaps not of rows that move.
   */
  boolean run() {
    change.requireSettable();
    ChosenColumns chosen = choose();
    if (chosen == null || chosen.rowsets().isEmpty() && !columns.isEvaluated()) {
      return false;
    }
    RewrittenColumns written = write(chosen);
    ReplacedColumns replaced =
        new ReplacedColumns(columns.names(), chosen.liveRowsets(), written.reports());
    List<Long> others = new ArrayList<>(chosen.others());
    others.addAll(written.wide());
    try {
      finish(change.with(replaced), others);
      return true;
    } catch (Exception error) {
      if (ColumnConflict.isCauseOf(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Moves the changed rows of other RowSets, inserts and deletes rows, and commits. */
  private void finish(RowChange whole, List<Long> others) {
    if (columns.changesMore(others)) {
      ColonnadeTable rest = some(others);
      columns.run(rest, others, RowOperation.planned(rest, planned, whole));
    } else {
      planned.commit(whole, NO_ROWS);
    }
  }

  /** Asks the planner for the RowSets in which columns are replaced; null if it cannot pay. */
  private ChosenColumns choose() {
    Update update =
        new Update(
            planned.job(),
            change.table().view(),
            !columns.isOfAllRows(),
            columns.names(),
            columns.reads(),
            change.filters(),
            SQLConf.get().getConfString(LEAST_SETTING, null));
    if (columns.isOfAllRows()) {
      return Planner.call(new ChooseColumns(update, null));
    }
    List<Long> candidates = Planner.call(new UpdatedRowsets(update)).rowsets();
    return candidates.isEmpty()
        ? null
        : Planner.call(new ChooseColumns(update, columns.count(some(candidates))));
  }

  private RewrittenColumns write(ChosenColumns chosen) {
    List<Long> ids = chosen.rowsets().stream().map(AskedRowSet::id).toList();
    return ids.isEmpty()
        ? new RewrittenColumns(List.of(), List.of())
        : columns.write(
            change.table().ofWholeRowSets(change.table().epoch(), ids),
            ids,
            chosen.task(),
            ColumnFill.tasks(chosen.rowsets()),
            planned.storeSettings());
  }

  private ColonnadeTable some(List<Long> rowsets) {
    return change.table().ofRowSets(change.table().epoch(), rowsets);
  }
}
