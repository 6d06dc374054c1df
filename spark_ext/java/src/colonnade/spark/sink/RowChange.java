package colonnade.spark.sink;

import colonnade.spark.quirks.MergeJoin;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What the commit of a statement must know of it, if it changes rows.
 *
 * @param table the table that it changes
 * @param kind delete, update or merge
 * @param read the filters that its scan was asked for, null where that is not known
 */
public record RowChange(ColonnadeTable table, String kind, Supplier<List<Map<String, Object>>> read) {

  List<Map<String, Object>> filters() {
    return read.get();
  }

  /** Returns the columns by which a MERGE looked for existing rows; null for another statement. */
  List<String> keys() {
    return kind.equals("merge") ? MergeJoin.running(table).orElse(null) : null;
  }
}
