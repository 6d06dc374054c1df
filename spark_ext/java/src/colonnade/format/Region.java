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
  /** Reads a region of {@link Regions}, which has three texts for each of its columns. */
  static Region parse(JsonNode region, List<TableField> columns) {
    List<Interval> intervals = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      String ends = region.get(3 * i + 2).textValue();
      intervals.add(
          new Interval(
              columns.get(i),
              region.get(3 * i).textValue(),
              region.get(3 * i + 1).textValue(),
              ends.charAt(0) == '(',
              ends.charAt(1) == ')'));
    }
    return new Region(List.copyOf(intervals));
  }
}
