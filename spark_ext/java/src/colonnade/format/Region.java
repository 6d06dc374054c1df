package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Rows whose value lies inside each of some intervals.
 *
 * <p>Spec: docs/spec/operations.md#regions
 */
public record Region(List<Interval> intervals) {
  /** Reads a region of a plan. Requires: the driver has validated all but the bounds. */
  static Region parse(JsonNode region) {
    List<Interval> intervals = new ArrayList<>();
    for (JsonNode each : region.get("intervals")) {
      intervals.add(Interval.parse(each, region.get("columns").get(intervals.size())));
    }
    return new Region(List.copyOf(intervals));
  }
}
