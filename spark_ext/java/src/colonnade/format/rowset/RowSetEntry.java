package colonnade.format.rowset;

import colonnade.format.Slice;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * One RowSet as the log states it. Spec: docs/spec/operations.md#rowset-entry
 *
 * <p>A parsed entry has neither statistics nor a partition, because the driver has already pruned
 * by them.
 *
 * @param object the random name of the RowSet's objects
 * @param place {@code directory}, {@code packed} or {@code inline}
 * @param rows the number of rows
 * @param bytes the number of stored bytes
 * @param cuts null if the field of the entry is not valid
 * @param footer the length and checksum of the footer
 * @param statistics the statistics of the indexed columns by column id
 * @param partition null if the table has no partitions
 * @param data the whole RowSet in base64 if its place is inline, else null
 * @param unsynced whether a crash of the machine may still lose its objects, because they have not
 *     been synced to disk
 */
public record RowSetEntry(
    String object,
    String place,
    long rows,
    long bytes,
    Cuts cuts,
    ByteCheck footer,
    Map<Integer, Statistics.Texts> statistics,
    List<String> partition,
    String data,
    boolean unsynced) {

  /** The length and checksum of a sequence of bytes. */
  public record ByteCheck(long length, long crc32c) {
    /** Returns the length and checksum of {@code bytes}. */
    public static ByteCheck of(byte[] bytes) {
      return new ByteCheck(bytes.length, Slice.of(bytes).crc32c());
    }
  }

  /**
   * Reads the fields of an entry that a task needs. Requires: the driver has validated the entry.
   */
  public static RowSetEntry parse(JsonNode entry) {
    return parse(entry, entry);
  }

  /**
   * Reads the location of replaced columns of a RowSet.
   *
   * @param entry the entry of the RowSet, which states its rows and cuts
   * @param stored what the log states about the columns that replace the original ones
   */
  public static RowSetEntry parse(JsonNode entry, JsonNode stored) {
    JsonNode footer = stored.get("footer");
    return new RowSetEntry(
        stored.get("object").textValue(),
        stored.get("place").textValue(),
        entry.get("rows").longValue(),
        stored.get("bytes").longValue(),
        Cuts.parse(entry.get("cuts")),
        new ByteCheck(footer.get("length").longValue(), footer.get("crc32c").longValue()),
        Map.of(),
        null,
        stored.hasNonNull("data") ? stored.get("data").textValue() : null,
        false);
  }

  public boolean isInline() {
    return place.equals("inline");
  }

  public boolean isDirectory() {
    return place.equals("directory");
  }
}
