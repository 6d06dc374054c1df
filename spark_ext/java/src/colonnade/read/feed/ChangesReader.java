package colonnade.read.feed;

import colonnade.read.RowReader;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;

/** Reads the parts of a task one after another. A row is valid until the next one. */
final class ChangesReader implements PartitionReader<InternalRow> {
  private final StructType feed;
  private final StructType readSchema;
  private final Map<String, String> hadoopConf;
  private final Iterator<JsonNode> parts;
  private PartitionReader<InternalRow> part;

  ChangesReader(
      JsonNode task, StructType feed, StructType readSchema, Map<String, String> hadoopConf) {
    this.feed = feed;
    this.readSchema = readSchema;
    this.hadoopConf = hadoopConf;
    this.parts = task.get("parts").iterator();
  }

  @Override
  public boolean next() throws IOException {
    while (part == null || !part.next()) {
      close();
      if (!parts.hasNext()) {
        return false;
      }
      part = open(parts.next());
    }
    return true;
  }

  private PartitionReader<InternalRow> open(JsonNode stated) {
    JsonNode rows = stated.path("rows");
    return rows.isMissingNode()
        ? new UpdatesReader(stated, feed, readSchema, hadoopConf)
        : RowReader.of(rows, readSchema, hadoopConf);
  }

  @Override
  public InternalRow get() {
    return part.get();
  }

  @Override
  public void close() throws IOException {
    if (part != null) {
      part.close();
      part = null;
    }
  }
}
