package colonnade.read.plan;

import colonnade.format.Region;
import colonnade.format.Regions;
import colonnade.format.rowset.LiveRowSet;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of one RowSet that a plan reads, and what its view hides of it.
 *
 * @param hidden the regions whose rows count as deleted
 * @param masks by column id, the regions in whose rows the values of the column count as NULL
 * @param ranges the rows to read, as pairs of the first row and the row after the last
 */
public record RowSetScan(
    LiveRowSet rowset, Regions hidden, Map<Integer, List<Region>> masks, long[][] ranges) {

  /** Returns the RowSets of a plan, in order. Requires: the driver has validated the plan. */
  static List<RowSetScan> of(JsonNode plan) {
    JsonNode view = plan.get("view");
    List<RowSetScan> found = new ArrayList<>();
    for (JsonNode each : view.path("rowsets")) {
      LiveRowSet rowset = LiveRowSet.parse(each);
      String id = Long.toString(rowset.id());
      found.add(
          new RowSetScan(
              rowset,
              new Regions(view.path("hidden").path(id)),
              masks(view.path("masks").path(id)),
              ranges(plan.path("ranges").path(id), rowset)));
    }
    return found;
  }

  private static Map<Integer, List<Region>> masks(JsonNode stated) {
    Map<Integer, List<Region>> masks = new HashMap<>();
    for (JsonNode each : stated) {
      masks
          .computeIfAbsent(each.get("column").intValue(), column -> new ArrayList<>())
          .addAll(new Regions(each.get("region")).parse());
    }
    return masks;
  }

  /** Returns the rows to read. A plan states them only of a RowSet that is not read whole. */
  private static long[][] ranges(JsonNode stated, LiveRowSet rowset) {
    if (stated.isMissingNode()) {
      return new long[][] {{0, rowset.entry().rows()}};
    }
    long[][] rows = new long[stated.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new long[] {stated.get(i).get(0).longValue(), stated.get(i).get(1).longValue()};
    }
    return rows;
  }
}
