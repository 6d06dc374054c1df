package colonnade.format;

import colonnade.write.RowWriter;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * One RowSet as the log will know it. {@code data} is the RowSet itself where it is inline, else
 * null; {@code partition} is null where the table has none. Spec:
 * docs/spec/operations.md#rowset-entry
 */
public record RowSetEntry(
    String object,
    String place,
    long rows,
    long bytes,
    Cuts cuts,
    byte[] footer,
    Map<Integer, Statistics> statistics,
    List<String> partition,
    byte[] data,
    boolean unsynced) {
  private static final JsonFactory JSON = new JsonFactory();

  /** Writes JSON. */
  interface Body {
    void write(JsonGenerator json) throws IOException;
  }

  /** What a task reports to its driver: its entries as one array. */
  public static byte[] report(List<RowSetEntry> entries) {
    return json(json -> write(entries, json));
  }

  /** The same of a task that also took rows. */
  public static byte[] report(RowWriter.Written written, RowNumbers deleted, RowNumbers moved) {
    return json(
        json -> {
          json.writeStartObject();
          json.writeFieldName("rowsets");
          write(written.entries(), json);
          json.writeFieldName("deleted");
          deleted.write(json);
          json.writeFieldName("moved");
          moved.write(json);
          json.writeFieldName("inserted");
          written.inserted().write(json);
          json.writeEndObject();
        });
  }

  private static void write(List<RowSetEntry> entries, JsonGenerator json) throws IOException {
    json.writeStartArray();
    for (RowSetEntry entry : entries) {
      entry.write(json);
    }
    json.writeEndArray();
  }

  private void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("object", object);
    json.writeStringField("place", place);
    json.writeNumberField("rows", rows);
    json.writeNumberField("bytes", bytes);
    cuts.write(json);
    json.writeObjectFieldStart("footer");
    json.writeNumberField("length", footer.length);
    json.writeNumberField("crc32c", Segment.crc32c(footer));
    json.writeEndObject();
    for (String id : List.of("schema_id", "partition_layout_id", "sort_order_id")) {
      json.writeNumberField(id, 0);
    }
    json.writeObjectFieldStart("statistics");
    for (var each : statistics.entrySet()) {
      json.writeFieldName(each.getKey().toString());
      each.getValue().forLog().write(json);
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
      json.writeStringField("data", Base64.getEncoder().encodeToString(data));
    }
    json.writeBooleanField("unsynced", unsynced);
    json.writeEndObject();
  }

  /** The footer of a RowSet: a JSON object in its envelope. Spec: docs/spec/rowset.md#footer */
  public static byte[] footer(long rows, Cuts cuts, List<Segment> segments) {
    byte[] body =
        json(
            json -> {
              json.writeStartObject();
              boolean filtered = segments.stream().anyMatch(Segment::hasFilters);
              json.writeNumberField("format_version", filtered ? 3 : 2);
              json.writeNumberField("rows", rows);
              cuts.write(json);
              json.writeObjectFieldStart("columns");
              for (Segment segment : segments) {
                json.writeFieldName(Integer.toString(segment.column().id()));
                segment.write(json);
              }
              json.writeEndObject();
              json.writeEndObject();
            });
    String head = String.format("{\"crc32c\":\"%08x\",\"body\":", Segment.crc32c(body));
    ByteArrayOutputStream sealed = new ByteArrayOutputStream(body.length + 64);
    sealed.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    sealed.writeBytes(body);
    sealed.writeBytes("}\n".getBytes(StandardCharsets.US_ASCII));
    return sealed.toByteArray();
  }

  private static byte[] json(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      body.write(json);
    } catch (IOException error) {
      throw new IllegalStateException("Memory cannot be written to", error);
    }
    return bytes.toByteArray();
  }
}
