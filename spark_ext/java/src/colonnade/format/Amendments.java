package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * What came to a RowSet after it was written.
 *
 * @param vector the entry of the deletion vector; null if no row is deleted
 * @param replaced the replaced columns by column id; each value is a RowSet with the same rows and
 *     cuts that has the column's current values
 */
public record Amendments(JsonNode vector, Map<Integer, RowSetEntry> replaced) {
  /**
   * Reads the amendments of a RowSet. Requires: the driver has validated them.
   *
   * @param amendments may be a missing node, since a plan leaves out empty amendments
   * @param entry the entry of the RowSet
   */
  static Amendments parse(JsonNode amendments, JsonNode entry) {
    Map<Integer, RowSetEntry> replaced = new HashMap<>();
    for (JsonNode each : amendments.path("replacements")) {
      RowSetEntry stored = RowSetEntry.parse(entry, each);
      each.get("columns").forEach(column -> replaced.put(column.intValue(), stored));
    }
    return new Amendments(
        amendments.hasNonNull("vector") ? amendments.get("vector") : null, replaced);
  }
}
