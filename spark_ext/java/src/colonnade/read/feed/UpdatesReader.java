package colonnade.read.feed;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import colonnade.read.RowReader;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Reads updated rows: each row before its update, and then the row after it. It holds all rows
 * before their updates, whose number the planner limits, and streams the others.
 */
final class UpdatesReader implements PartitionReader<InternalRow> {
  private final JsonNode part;
  private final Map<String, String> hadoopConf;
  /** The columns that Spark wants, and after them those that are only compared. */
  private final StructType columns;
  /** Keeps the columns that Spark wants. */
  private final UnsafeProjection wanted;
  private final List<Compared> compared = new ArrayList<>();
  private UnsafeRow[] before;
  private RowReader after;
  private int next;
  private boolean isAfter;

  /** A compared column: its place in a row, and how its values are compared. */
  private record Compared(int place, SameValue values) {}

  UpdatesReader(
      JsonNode part, StructType feed, StructType readSchema, Map<String, String> hadoopConf) {
    this.part = part;
    this.hadoopConf = hadoopConf;
    Map<String, StructField> fields = new LinkedHashMap<>();
    for (StructField field : readSchema.fields()) {
      fields.put(field.name(), field);
    }
    for (JsonNode name : part.get("compared")) {
      fields.putIfAbsent(name.textValue(), feed.apply(name.textValue()));
    }
    columns = new StructType(fields.values().toArray(StructField[]::new));
    for (JsonNode name : part.get("compared")) {
      int place = columns.fieldIndex(name.textValue());
      compared.add(new Compared(place, SameValue.of(columns.apply(place).dataType())));
    }
    boolean more = columns.length() > readSchema.length();
    wanted = more ? UnsafeProjection.create(readSchema) : null;
  }

  @Override
  public boolean next() throws IOException {
    if (after == null) {
      before = readBefore();
      after = RowReader.of(part.get("after"), columns, hadoopConf);
    } else if (!isAfter) {
      isAfter = true;
      return true;
    }
    isAfter = false;
    while (after.next()) {
      if (next == before.length) {
        throw unequal();
      }
      next++;
      if (differs(before[next - 1], after.get())) {
        return true;
      }
      before[next - 1] = null;
    }
    if (next < before.length) {
      throw unequal();
    }
    return false;
  }

  private IllegalStateException unequal() {
    return new IllegalStateException("There are not as many rows before updates as after them.");
  }

  /** Returns the rows before the updates, in the order of those after them. */
  private UnsafeRow[] readBefore() throws IOException {
    List<UnsafeRow> rows = new ArrayList<>();
    UnsafeProjection copy = UnsafeProjection.create(columns);
    try (RowReader reader = RowReader.of(part.get("before"), columns, hadoopConf)) {
      while (reader.next()) {
        rows.add(copy.apply(reader.get()).copy());
      }
    }
    JsonNode order = part.path("order");
    if (order.isMissingNode()) {
      return rows.toArray(UnsafeRow[]::new);
    }
    byte[] places = Base64.getDecoder().decode(order.textValue());
    var place = ByteBuffer.wrap(places).order(LITTLE_ENDIAN).asIntBuffer();
    UnsafeRow[] found = new UnsafeRow[rows.size()];
    rows.forEach(row -> found[place.get()] = row);
    return found;
  }

  private boolean differs(InternalRow row, InternalRow other) {
    return compared.stream().anyMatch(each -> !each.values.same(row, each.place, other, each.place));
  }

  @Override
  public InternalRow get() {
    InternalRow row = isAfter ? after.get() : before[next - 1];
    return wanted == null ? row : wanted.apply(row);
  }

  @Override
  public void close() throws IOException {
    if (after != null) {
      after.close();
    }
  }
}
