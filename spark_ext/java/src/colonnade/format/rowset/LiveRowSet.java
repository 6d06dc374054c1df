package colonnade.format.rowset;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * One live RowSet of a table, as the log says it.
 *
 * @param epoch the epoch that added the RowSet
 * @param vector the entry of the deletion vector; null if it has none
 * @param replaced the replaced columns by column id; each value is a RowSet with the same rows and
 *     cuts that has the column's current values
 */
public record LiveRowSet(
    long id, long epoch, RowSetEntry entry, JsonNode vector, Map<Integer, RowSetEntry> replaced) {
  /** Reads a RowSet of a view. Requires: the driver has validated all values from the log. */
  public static LiveRowSet parse(JsonNode rowset) {
    JsonNode entry = rowset.get("entry");
    Map<Integer, RowSetEntry> replaced = new HashMap<>();
    for (JsonNode each : rowset.path("replacements")) {
      RowSetEntry stored = RowSetEntry.parse(entry, each);
      each.get("columns").forEach(column -> replaced.put(column.intValue(), stored));
    }
    return new LiveRowSet(
        rowset.get("id").longValue(),
        rowset.get("epoch").longValue(),
        RowSetEntry.parse(entry),
        rowset.hasNonNull("vector") ? rowset.get("vector") : null,
        replaced);
  }
}
