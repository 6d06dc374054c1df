package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Regions as a plan states them. They are parsed only if they are needed, because a plan may have
 * thousands of them for each task.
 *
 * <p>Each group has regions of the same {@code columns}. A region has three texts for each column:
 * its bounds, either of which may be null, and {@code [} or {@code (} with {@code ]} or {@code )}.
 */
public record Regions(JsonNode groups) {
  public boolean isEmpty() {
    return groups.isEmpty();
  }

  /** Returns the number of regions. */
  public int count() {
    int count = 0;
    for (JsonNode group : groups) {
      count += group.get("regions").size();
    }
    return count;
  }

  /** Returns the columns of all regions. */
  public List<TableField> columns() {
    List<TableField> found = new ArrayList<>();
    groups.forEach(group -> columns(group).filter(each -> !found.contains(each)).forEach(found::add));
    return found;
  }

  /** Returns the regions. Requires: the driver has validated all but the bounds. */
  public List<Region> parse() {
    List<Region> found = new ArrayList<>();
    for (JsonNode group : groups) {
      List<TableField> columns = columns(group).toList();
      for (JsonNode region : group.get("regions")) {
        found.add(Region.parse(region, columns));
      }
    }
    return found;
  }

  private static Stream<TableField> columns(JsonNode group) {
    List<TableField> found = new ArrayList<>();
    group.get("columns").forEach(each -> found.add(TableField.parse(each)));
    return found.stream();
  }
}
