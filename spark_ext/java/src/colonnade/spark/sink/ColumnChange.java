package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.spark.quirks.changes.SetColumns;
import colonnade.write.RewrittenColumns;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
    JsonNode chosen = choose();
    if (chosen == null || chosen.get("rowsets").isEmpty() && !columns.isEvaluated()) {
      return false;
    }
    RewrittenColumns written = write(chosen);
    Map<String, Object> replaced = new HashMap<>();
    replaced.put("names", columns.names());
    replaced.put("asked", chosen.get("asked"));
    replaced.put("reports", written.reports());
    List<Long> others = longs(chosen.get("others"));
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
  private JsonNode choose() {
    Map<String, Object> args = planned.named();
    args.put("epoch", change.table().epoch());
    args.put("now", change.table().now());
    args.put("counted", !columns.isOfAllRows());
    args.put("columns", columns.names());
    args.put("filters", change.filters());
    args.put("reads", columns.reads());
    args.put("least", SQLConf.get().getConfString(LEAST_SETTING, null));
    args.put("counts", null);
    if (!columns.isOfAllRows()) {
      JsonNode candidates = Planner.call("updated_rowsets", args).get("rowsets");
      if (candidates.isEmpty()) {
        return null;
      }
      args.put("counts", columns.count(some(longs(candidates))));
    }
    return Planner.call("choose_columns", args);
  }

  private RewrittenColumns write(JsonNode chosen) {
    JsonNode rowsets = chosen.get("rowsets");
    List<Long> ids = new ArrayList<>();
    rowsets.forEach(each -> ids.add(each.get("id").longValue()));
    return ids.isEmpty()
        ? new RewrittenColumns(List.of(), List.of())
        : columns.write(
            change.table().ofWholeRowSets(change.table().epoch(), ids),
            ids,
            chosen.get("task").asText(),
            rowsets.toString(),
            planned.storeSettings());
  }

  private ColonnadeTable some(List<Long> rowsets) {
    return change.table().ofRowSets(change.table().epoch(), rowsets);
  }

  private static List<Long> longs(JsonNode numbers) {
    List<Long> found = new ArrayList<>();
    numbers.forEach(each -> found.add(each.longValue()));
    return found;
  }
}
