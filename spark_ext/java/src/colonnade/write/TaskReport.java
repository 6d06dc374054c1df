package colonnade.write;

import colonnade.format.rowset.JsonBytes;
import colonnade.format.rowset.RowNumbers;
import colonnade.format.rowset.RowSetEntry;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/** The report of a task to its driver, as JSON that tableformat/statements/reported.py reads. */
final class TaskReport {
  private TaskReport() {}

  /** Returns the report of a task that only adds RowSets. */
  static byte[] of(RowWriter.Written written) {
    return with(written.statics(), json -> write(written.entries(), json));
  }

  /** Returns the report of a task that also deletes rows and replaces rows by others. */
  static byte[] of(RowWriter.Written written, RowNumbers deleted) {
    return with(
        written.statics(),
        json -> {
          json.writeStartObject();
          json.writeFieldName("rowsets");
          write(written.entries(), json);
          json.writeFieldName("deleted");
          deleted.write(json);
          json.writeFieldName("origins");
          json.writeStartArray();
          for (String each : written.origins()) {
            json.writeString(each);
          }
          json.writeEndArray();
          json.writeEndObject();
        });
  }

  /** Returns a report, with static values beside it if the task takes such values. */
  private static byte[] with(RowWriter.Statics statics, JsonBytes.Body own) {
    if (statics == null) {
      return JsonBytes.of(own);
    }
    return JsonBytes.of(
        json -> {
          json.writeStartObject();
          json.writeFieldName("statics");
          write(statics.entries(), json);
          json.writeFieldName("columns");
          json.writeStartArray();
          for (int each : statics.columns()) {
            json.writeNumber(each);
          }
          json.writeEndArray();
          json.writeNumberField("updated", statics.updated());
          json.writeFieldName("own");
          own.write(json);
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
