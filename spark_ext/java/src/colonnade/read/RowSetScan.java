package colonnade.read;

import colonnade.format.RowSetEntry;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * What a plan states about one RowSet. The driver has validated all values from the log. A plan
 * leaves out amendments that are empty.
 *
 * @param vector the entry of the deletion vector; null if no row is deleted
 * @param ranges the rows to read, as pairs of the first row and the row after the last
 * @param replaced the replaced columns by column id; each value is a RowSet with the same rows and
 *     cuts that has the column's current values
 */
record RowSetScan(
    long id,
    long epoch,
    RowSetEntry entry,
    JsonNode vector,
    long[][] ranges,
    Map<Integer, RowSetEntry> replaced) {

  static RowSetScan parse(JsonNode scan) {
    JsonNode rowset = scan.get("rowset");
    JsonNode entry = rowset.get("entry");
    JsonNode amendments = rowset.path("amendments");
    JsonNode ranges = scan.get("ranges");
    long[][] rows = new long[ranges.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new long[] {ranges.get(i).get(0).longValue(), ranges.get(i).get(1).longValue()};
    }
    Map<Integer, RowSetEntry> replaced = new HashMap<>();
    for (JsonNode each : amendments.path("replacements")) {
      RowSetEntry stored = RowSetEntry.parse(entry, each);
      each.get("columns").forEach(column -> replaced.put(column.intValue(), stored));
    }
    return new RowSetScan(
        rowset.get("id").longValue(),
        rowset.get("epoch").longValue(),
        RowSetEntry.parse(entry),
        amendments.hasNonNull("vector") ? amendments.get("vector") : null,
        rows,
        replaced);
  }
}
