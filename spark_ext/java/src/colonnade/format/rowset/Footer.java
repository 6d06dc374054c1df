package colonnade.format.rowset;

import colonnade.format.Slice;
import colonnade.store.StoreException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * The position of every segment and index of a RowSet, by column id.
 *
 * <p>Spec: docs/spec/rowset.md#footer
 *
 * @param cuts null if the field of the footer is not valid
 */
public record Footer(long rows, Cuts cuts, Map<Integer, ColumnSegment> columns) {
  /** The largest length of a footer in bytes. */
  public static final long LIMIT = 1L << 30;

  private static final long ROWS_LIMIT = (1L << 32) - 1;

  private static final int VERSION = 1;

  /**
   * Decodes a footer. Requires: its length and checksum match the log.
   *
   * @param location names the footer in errors
   * @throws IOException if the footer is damaged, or has a version that this reader does not know
   */
  public static Footer decode(Slice data, String location) throws IOException {
    JsonObject body =
        JsonObject.unseal(data, location).only(Set.of("format_version", "rows", "cuts", "columns"));
    JsonNode version = body.node().get("format_version");
    if (version != null && !(version.isIntegralNumber() && version.longValue() == VERSION)) {
      throw StoreException.unsupported(
          location + " holds format version " + version
              + ", which this version does not know: upgrade Colonnade.");
    }
    long rows = body.integer("rows", 1, ROWS_LIMIT);
    JsonObject segments = body.object("columns");
    Map<Integer, ColumnSegment> columns = new HashMap<>();
    for (Iterator<String> keys = segments.node().fieldNames(); keys.hasNext(); ) {
      String key = keys.next();
      if (!key.matches("[1-9][0-9]{0,9}") || Long.parseLong(key) > Integer.MAX_VALUE) {
        throw segments.malformed(key, "Input should be the id of a column");
      }
      columns.put(Integer.parseInt(key), ColumnSegment.parse(segments.object(key)));
    }
    return new Footer(rows, Cuts.parse(body.node().path("cuts")), columns);
  }

  /** Returns the bytes to store: a JSON object in its envelope. */
  public byte[] encode() {
    return JsonRecords.seal(new Stored(VERSION, rows, cuts, columns));
  }

  private record Stored(
      int formatVersion, long rows, Cuts cuts, Map<Integer, ColumnSegment> columns) {}
}
