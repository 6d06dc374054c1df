package colonnade.write;

import colonnade.format.JsonBytes;
import colonnade.format.RowNumbers;
import colonnade.format.RowSetEntry;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/** The report of a task to its driver, as JSON that tableformat/statements/reported.py reads. */
final class TaskReport {
  private TaskReport() {}

  /** Returns the report of a task that only adds RowSets. */
  static byte[] of(List<RowSetEntry> entries) {
    return JsonBytes.of(json -> write(entries, json));
  }

  /** Returns the report of a task that also deletes and moves rows. */
  static byte[] of(RowWriter.Written written, RowNumbers deleted, RowNumbers moved) {
    return JsonBytes.of(
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
}
