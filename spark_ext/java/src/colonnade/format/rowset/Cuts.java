package colonnade.format.rowset;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The row numbers that no block of a RowSet crosses, as the footer and the log state them. They are
 * either at a fixed distance, or listed as the end of each stretch of rows.
 *
 * @param distance the distance between neighbouring cuts in rows; 0 if {@code ends} lists the cuts
 * @param ends the row number at which each stretch ends; empty if the cuts are at a fixed distance
 */
public record Cuts(long distance, List<Long> ends) {
  /** Returns cuts at a fixed distance. */
  public static Cuts every(long distance) {
    return new Cuts(distance, List.of());
  }

  /** Reads the field of a footer or an entry; returns null for anything else. */
  public static Cuts parse(JsonNode json) {
    if (json.isIntegralNumber()) {
      return every(json.longValue());
    }
    List<Long> ends = new ArrayList<>();
    for (JsonNode end : json) {
      if (!end.isIntegralNumber()) {
        return null;
      }
      ends.add(end.longValue());
    }
    return json.isArray() ? new Cuts(0, List.copyOf(ends)) : null;
  }

  /** Returns the field of a footer or an entry. */
  @JsonValue
  Object json() {
    return ends.isEmpty() ? distance : ends;
  }

  /**
   * Returns the boundaries of the stretches of a RowSet, from 0 to {@code rows}, both included.
   * Returns null if the cuts do not fit this number of rows, or make too many stretches.
   */
  public long[] boundaries(long rows) {
    if (ends.size() > SparseIndex.BLOCK_LIMIT) {
      return null;
    }
    if (ends.isEmpty()) {
      if (distance < 1 || (rows - 1) / distance >= SparseIndex.BLOCK_LIMIT) {
        return null;
      }
      int inner = (int) ((rows - 1) / distance);
      long[] found = new long[inner + 2];
      Arrays.setAll(found, i -> i <= inner ? i * distance : rows);
      return found;
    }
    long[] found = new long[ends.size() + 1];
    for (int i = 1; i < found.length; i++) {
      found[i] = ends.get(i - 1);
      if (found[i] <= found[i - 1]) {
        return null;
      }
    }
    return found[found.length - 1] == rows ? found : null;
  }
}
