package colonnade.spark.sink;

import colonnade.spark.quirks.MergeJoin;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A statement that changes rows, as its commit needs it.
 *
 * @param table the table to change
 * @param kind delete, update or merge
 * @param read the filters of the statement's scan; null if they are not known
 */
public record RowChange(ColonnadeTable table, String kind, Supplier<List<Map<String, Object>>> read) {

  List<Map<String, Object>> filters() {
    return read.get();
  }

  /** Returns the columns that a MERGE compares with existing rows; null for another statement. */
  List<String> keys() {
    return kind.equals("merge") ? MergeJoin.running(table).orElse(null) : null;
  }
}
