package colonnade.format;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * One RowSet as the log knows it. Spec: docs/spec/operations.md#rowset-entry
 *
 * <p>An entry that was parsed has neither statistics nor a partition: the driver has pruned by
 * them.
 *
 * @param object the random name of the RowSet's objects
 * @param place {@code directory}, {@code packed} or {@code inline}
 * @param rows how many rows it has
 * @param bytes how many bytes are stored
 * @param cuts null where the entry states something else than cuts
 * @param footer length and checksum of the footer
 * @param statistics by column id, of the indexed columns
 * @param partition null where the table has no partitions
 * @param data the whole RowSet in base64 where it is inline, else null
 * @param unsynced whether its objects may not have reached the disk
 */
public record RowSetEntry(
    String object,
    String place,
    long rows,
    long bytes,
    Cuts cuts,
    Check footer,
    Map<Integer, Statistics> statistics,
    List<String> partition,
    String data,
    boolean unsynced) {

  /** Length and checksum of some bytes. */
  public record Check(long length, long crc32c) {
    /** The check of these bytes. */
    public static Check of(byte[] bytes) {
      return new Check(bytes.length, Slice.of(bytes).crc32c());
    }
  }

  /** Reads what a task needs of an entry, which the driver has validated. */
  public static RowSetEntry parse(JsonNode entry) {
    return parse(entry, entry);
  }

  /**
   * Reads where replaced columns of a RowSet are.
   *
   * @param entry of the RowSet, which has the rows and the cuts
   * @param stored what the log states about the columns that replace others
   */
  public static RowSetEntry parse(JsonNode entry, JsonNode stored) {
    JsonNode footer = stored.get("footer");
    return new RowSetEntry(
        stored.get("object").textValue(),
        stored.get("place").textValue(),
        entry.get("rows").longValue(),
        stored.get("bytes").longValue(),
        Cuts.parse(entry.get("cuts")),
        new Check(footer.get("length").longValue(), footer.get("crc32c").longValue()),
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

  /** Writes the entry as a task reports it. */
  public void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("object", object);
    json.writeStringField("place", place);
    json.writeNumberField("rows", rows);
    json.writeNumberField("bytes", bytes);
    cuts.write(json);
    json.writeObjectFieldStart("footer");
    json.writeNumberField("length", footer.length());
    json.writeNumberField("crc32c", footer.crc32c());
    json.writeEndObject();
    for (String id : List.of("schema_id", "partition_layout_id", "sort_order_id")) {
      json.writeNumberField(id, 0);
    }
    json.writeObjectFieldStart("statistics");
    for (Map.Entry<Integer, Statistics> column : statistics.entrySet()) {
      json.writeFieldName(column.getKey().toString());
      column.getValue().forLog().tagged().write(json);
    }
    json.writeEndObject();
    if (partition != null) {
      json.writeArrayFieldStart("partition");
      for (String value : partition) {
        json.writeString(value);
      }
      json.writeEndArray();
    }
    if (data != null) {
      json.writeStringField("data", data);
    }
    json.writeBooleanField("unsynced", unsynced);
    json.writeEndObject();
  }
}
