package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What came to a RowSet after it was written. Regions follow from the state of the database and the
 * time of the plan.
 *
 * @param vector the entry of the deletion vector; null if it has none
 * @param replaced the replaced columns by column id; each value is a RowSet with the same rows and
 *     cuts that has the column's current values
 * @param hidden the regions whose rows count as deleted
 * @param masks by column id, the regions in whose rows the values of the column count as NULL
 */
public record Amendments(
    JsonNode vector, Map<Integer, RowSetEntry> replaced, Regions hidden,
    Map<Integer, List<Region>> masks) {
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
    Map<Integer, List<Region>> masks = new HashMap<>();
    for (JsonNode each : amendments.path("masks")) {
      masks
          .computeIfAbsent(each.get("column").intValue(), column -> new ArrayList<>())
          .addAll(new Regions(each.get("region")).parse());
    }
    return new Amendments(
        amendments.hasNonNull("vector") ? amendments.get("vector") : null,
        replaced,
        new Regions(amendments.path("hidden")),
        masks);
  }
}
