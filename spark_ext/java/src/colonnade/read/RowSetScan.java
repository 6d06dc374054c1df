package colonnade.read;

import colonnade.format.LiveRowSet;
import com.fasterxml.jackson.databind.JsonNode;

/**
 * The part of one RowSet that a plan reads.
 *
 * @param ranges the rows to read, as pairs of the first row and the row after the last
 */
record RowSetScan(LiveRowSet rowset, long[][] ranges) {

  static RowSetScan parse(JsonNode scan) {
    JsonNode ranges = scan.get("ranges");
    long[][] rows = new long[ranges.size()][];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new long[] {ranges.get(i).get(0).longValue(), ranges.get(i).get(1).longValue()};
    }
    return new RowSetScan(LiveRowSet.parse(scan.get("rowset")), rows);
  }
}
