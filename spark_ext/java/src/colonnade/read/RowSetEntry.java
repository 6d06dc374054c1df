package colonnade.read;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * One RowSet as a plan names it: id, epoch, entry of the log, deletion vector and row ranges.
 *
 * <p>The driver has validated what stands in the log; here it is only taken apart. {@code replaced}
 * says for columns that were replaced which RowSet, with the same rows and cuts, has them.
 */
public record RowSetEntry(
    long id, long epoch, String object, String place, long rows, long bytes, JsonNode cuts,
    long footerLength, long footerCrc32c, String data, JsonNode vector, long[][] ranges,
    Map<Integer, RowSetEntry> replaced) {

  static RowSetEntry parse(JsonNode scan) {
    JsonNode entry = scan.get("entry");
    JsonNode ranges = scan.get("ranges");
    long[][] rows = new long[ranges.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new long[] {ranges.get(i).get(0).longValue(), ranges.get(i).get(1).longValue()};
    }
    Map<Integer, RowSetEntry> replaced = new HashMap<>();
    if (entry.hasNonNull("replacements")) {
      for (JsonNode each : entry.get("replacements")) {
        RowSetEntry stored = of(scan, each, null, new long[0][], Map.of());
        each.get("columns").forEach(column -> replaced.put(column.intValue(), stored));
      }
    }
    return of(scan, entry, scan.hasNonNull("vector") ? scan.get("vector") : null, rows, replaced);
  }

  /** What is {@code stored} somewhere, with the rows and cuts of the RowSet that it belongs to. */
  private static RowSetEntry of(
      JsonNode scan, JsonNode stored, JsonNode vector, long[][] ranges,
      Map<Integer, RowSetEntry> replaced) {
    JsonNode footer = stored.get("footer");
    return new RowSetEntry(
        scan.get("id").longValue(),
        scan.get("epoch").longValue(),
        stored.get("object").textValue(),
        stored.get("place").textValue(),
        scan.get("entry").get("rows").longValue(),
        stored.get("bytes").longValue(),
        scan.get("entry").get("cuts"),
        footer.get("length").longValue(),
        footer.get("crc32c").longValue(),
        stored.hasNonNull("data") ? stored.get("data").textValue() : null,
        vector,
        ranges,
        replaced);
  }

  /** The cuts from 0 to the row count, both included; null when they are no cuts. */
  long[] cutRows() {
    if (cuts.isIntegralNumber()) {
      long step = cuts.longValue();
      int inner = (int) ((rows - 1) / step);
      long[] found = new long[inner + 2];
      Arrays.setAll(found, i -> i <= inner ? i * step : rows);
      return found;
    }
    long[] found = new long[cuts.size() + 1];
    for (int i = 1; i < found.length; i++) {
      found[i] = cuts.get(i - 1).longValue();
      if (found[i] <= found[i - 1]) {
        return null;
      }
    }
    return found[found.length - 1] == rows ? found : null;
  }
}
