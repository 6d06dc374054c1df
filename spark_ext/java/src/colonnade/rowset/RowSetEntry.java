package colonnade.rowset;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;

/**
 * One RowSet as a plan names it: id, epoch, entry of the log, deletion vector and row ranges.
 *
 * <p>The driver has validated what stands in the log; here it is only taken apart.
 */
record RowSetEntry(
    long id, long epoch, String object, String place, long rows, long bytes, JsonNode cuts,
    long footerLength, long footerCrc32c, String data, JsonNode vector, long[][] ranges) {

  static RowSetEntry parse(JsonNode scan) {
    JsonNode entry = scan.get("entry");
    JsonNode footer = entry.get("footer");
    JsonNode ranges = scan.get("ranges");
    long[][] rows = new long[ranges.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new long[] {ranges.get(i).get(0).longValue(), ranges.get(i).get(1).longValue()};
    }
    return new RowSetEntry(
        scan.get("id").longValue(),
        scan.get("epoch").longValue(),
        entry.get("object").textValue(),
        entry.get("place").textValue(),
        entry.get("rows").longValue(),
        entry.get("bytes").longValue(),
        entry.get("cuts"),
        footer.get("length").longValue(),
        footer.get("crc32c").longValue(),
        entry.hasNonNull("data") ? entry.get("data").textValue() : null,
        scan.hasNonNull("vector") ? scan.get("vector") : null,
        rows);
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
