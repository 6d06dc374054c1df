package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.spark.quirks.SetColumns;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.internal.SQLConf;

/**
 * An UPDATE that replaces the columns that it sets, in the RowSets where that takes far fewer bytes
 * than to move the changed rows. In the other RowSets, rows move as Spark plans it. One commit
 * makes both visible.
 */
final class ColumnUpdate {
  private static final WriterCommitMessage[] NO_ROWS = {};

  /** A setting: columns are replaced if the changed rows take at least this many stored bytes. */
  private static final String LEAST_SETTING = "spark.colonnade.replaceColumnsBytes";

  private final PlannedWrite planned;
  private final RowChange change;
  private final SetColumns columns;

  ColumnUpdate(PlannedWrite planned, RowChange change, SetColumns columns) {
    this.planned = planned;
    this.change = change;
    this.columns = columns;
  }

  /**
   * Runs the statement. Returns false, and has changed nothing, if no column is to be replaced, or
   * if a concurrent writer is in the way. Other rows of a RowSet can move beside that writer.
   */
  boolean run() {
    JsonNode chosen = choose();
    if (chosen == null || chosen.get("rowsets").isEmpty()) {
      return false;
    }
    Map<String, Object> replaced = new HashMap<>();
    replaced.put("names", columns.names());
    replaced.put("asked", chosen.get("asked"));
    replaced.put("reports", write(chosen));
    List<Long> others = longs(chosen.get("others"));
    try {
      finish(change.with(replaced), others);
      return true;
    } catch (Exception error) {
      if (isConflict(error)) {
        return false;
      }
      throw error;
    }
  }

  /** Moves the changed rows of other RowSets, and commits. */
  private void finish(RowChange whole, List<Long> others) {
    if (others.isEmpty()) {
      planned.commit(whole, NO_ROWS);
    } else {
      ColonnadeTable rest = some(others);
      columns.run(rest, RowOperation.planned(rest, planned, whole));
    }
  }

  private static boolean isConflict(Throwable error) {
    return error != null
        && (error instanceof ColonnadeException own && own.code().equals("COLONNADE_CONFLICT")
            || isConflict(error.getCause()));
  }

  /** Asks the planner in which RowSets to replace columns; null if that saves nothing. */
  private JsonNode choose() {
    Map<String, Object> args = planned.named();
    args.put("epoch", change.table().epoch());
    args.put("columns", columns.names());
    args.put("filters", change.filters());
    args.put("reads", columns.conditionReads());
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

  private List<String> write(JsonNode chosen) {
    JsonNode rowsets = chosen.get("rowsets");
    List<Long> ids = new ArrayList<>();
    rowsets.forEach(each -> ids.add(each.get("id").longValue()));
    int most = 4 * SparkSession.active().sparkContext().defaultParallelism();
    return columns.write(
        some(ids),
        Math.min(ids.size(), most),
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
