package colonnade.spark.sink;

import colonnade.spark.quirks.MergeJoin;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What a statement that changes rows is, as far as its commit must know.
 *
 * @param table the table that it changes
 * @param kind delete, update or merge
 * @param read the filters that its scan was asked for, null where that is not known
 */
public record RowChange(ColonnadeTable table, String kind, Supplier<List<Map<String, Object>>> read) {

  List<Map<String, Object>> filters() {
    return read.get();
  }

  /** The columns by which it found that a row to insert was missing; null where it did not look. */
  List<String> keys() {
    return kind.equals("merge") ? MergeJoin.running(table).orElse(null) : null;
  }
}
