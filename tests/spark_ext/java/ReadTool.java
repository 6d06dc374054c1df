import colonnade.read.ColonnadeReaderFactory;
import colonnade.read.ScanTask;
import colonnade.read.feed.ChangesReaderFactory;
import colonnade.read.feed.ChangesTask;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.VariantVal;

/**
 * Runs scan tasks without Spark: a JSON line {"task", "schema"} in, its rows as a JSON line out. Each
 * task is read by batches and by rows, which must be the same.
 *
 * <p>Numbers are written as what they are stored as, floats as their bits.
 */
public final class ReadTool {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private ReadTool() {}

  public static void main(String[] args) throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream output = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      output.println(MAPPER.writeValueAsString(answer(MAPPER.readTree(line))));
      output.flush();
    }
  }

  private static ObjectNode answer(JsonNode request) {
    ObjectNode reply = MAPPER.createObjectNode();
    try {
      read(request, reply);
    } catch (RuntimeException error) {
      reply.removeAll();
      reply.put("crash", error.toString());
      error.printStackTrace();
    } catch (Exception error) {
      int before = reply.withArray("rows").size();
      reply.removeAll();
      reply.put("before", before);
      reply.put("error", error.getMessage());
    }
    return reply;
  }

  private static void read(JsonNode request, ObjectNode reply) throws IOException {
    StructType schema = (StructType) DataType.fromJson(request.get("schema").textValue());
    Map<String, String> conf = new HashMap<>();
    conf.put("fs.shelf.impl", ShelfFileSystem.class.getName());
    request.path("conf").fields().forEachRemaining(e -> conf.put(e.getKey(), e.getValue().asText()));
    if (request.has("feed")) {
      readChanges(request, schema, conf, reply.putArray("rows"));
      return;
    }
    ColonnadeReaderFactory factory = new ColonnadeReaderFactory(schema, request.path("statics").textValue(), conf);
    ScanTask task = new ScanTask(request.get("task").textValue(), InternalRow.empty());
    if (request.hasNonNull("stopped")) {
      for (int i = 0; i < request.get("times").intValue(); i++) {
        stop(factory.createColumnarReader(task), request.get("stopped").textValue());
      }
      reply.put("open", ShelfFileSystem.OPEN.get());
      return;
    }
    boolean edges = request.path("edges").asBoolean();
    ArrayNode rows = reply.putArray("rows");
    ArrayNode batches = reply.putArray("batches");
    if (request.path("merged").asBoolean()) {
      merge(factory, task, schema, rows);
      return;
    }
    int before = ShelfFileSystem.OPENED.get();
    ShelfFileSystem.READ.clear();
    int digest = 0;
    int again = 0;
    try (PartitionReader<ColumnarBatch> reader = factory.createColumnarReader(task)) {
      while (reader.next()) {
        ColumnarBatch batch = reader.get();
        batches.add(batch.numRows());
        for (int i = 0; i < schema.length(); i++) {
          requireNullsCounted(batch.column(i), batch.numRows());
        }
        int at = 0;
        for (Iterator<InternalRow> all = batch.rowIterator(); all.hasNext(); at++) {
          ArrayNode row = struct(all.next(), schema);
          digest = 31 * digest + row.hashCode();
          if (!edges || at == 0 || at == batch.numRows() - 1) {
            rows.add(row);
          }
        }
        batch.closeIfFreeable();
      }
    }
    reply.put("opened", ShelfFileSystem.OPENED.get() - before);
    reply.set("read", MAPPER.valueToTree(ShelfFileSystem.READ));
    try (PartitionReader<InternalRow> reader = factory.createReader(task)) {
      InternalRow copy = null;
      ArrayNode last = null;
      for (int i = 0; reader.next(); i++) {
        ArrayNode row = struct(reader.get(), schema);
        again = 31 * again + row.hashCode();
        require(edges || row.equals(rows.get(i)), "a row is not its batch's");
        require(copy == null || struct(copy, schema).equals(last), "a copy changed");
        copy = reader.get().copy();
        last = row;
      }
      require(again == digest, "rows are not those of batches");
    }
  }

  /** Reads a task of a change feed, and copies of all rows, which no later row must change. */
  private static void readChanges(
      JsonNode request, StructType schema, Map<String, String> conf, ArrayNode rows)
      throws IOException {
    StructType feed = (StructType) DataType.fromJson(request.get("feed").textValue());
    ChangesTask task = new ChangesTask(request.get("task").textValue());
    try (PartitionReader<InternalRow> reader =
        new ChangesReaderFactory(feed, schema, conf).createReader(task)) {
      InternalRow copy = null;
      while (reader.next()) {
        require(copy == null || struct(copy, schema).equals(rows.get(rows.size() - 1)), "changed");
        require(reader.get().numFields() == schema.length(), "a row has other columns");
        rows.add(struct(reader.get(), schema));
        copy = reader.get().copy();
      }
    }
  }

  /** Reads a task that returns rows alone, and no columns. */
  private static void merge(
      ColonnadeReaderFactory factory, ScanTask task, StructType schema, ArrayNode rows)
      throws IOException {
    try (PartitionReader<InternalRow> reader = factory.createReader(task)) {
      while (reader.next()) {
        rows.add(struct(reader.get(), schema));
      }
      require(!reader.next(), "there are rows after the last one");
    }
    try {
      factory.createColumnarReader(task);
    } catch (IllegalStateException refusal) {
      return;
    }
    require(false, "a task that merges returned columns");
  }

  /** Ends a reader after its first batch, or kills its task while it opens objects. */
  private static void stop(PartitionReader<ColumnarBatch> reader, String how) throws IOException {
    int before = ShelfFileSystem.OPENED.get();
    Thread task =
        new Thread(
            () -> {
              try (reader) {
                reader.next();
              } catch (IOException error) {
                require(Thread.interrupted(), error.getMessage());
              }
            });
    task.start();
    if (how.equals("killed")) {
      waitUntil(() -> ShelfFileSystem.OPENED.get() > before + 2);
      task.interrupt();
    }
    waitUntil(() -> !task.isAlive());
    waitUntil(() -> ShelfFileSystem.OPEN.get() == 0);
  }

  private static void waitUntil(BooleanSupplier holds) {
    long end = System.nanoTime() + 5_000_000_000L;
    while (!holds.getAsBoolean() && System.nanoTime() < end) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }

  private static void requireNullsCounted(ColumnVector column, int rows) {
    int nulls = 0;
    for (int row = 0; row < rows; row++) {
      nulls += column.isNullAt(row) ? 1 : 0;
    }
    require(column.numNulls() == nulls, "the count of NULLs is another one");
    require(column.hasNull() || nulls == 0, "a column without NULLs has one");
  }

  private static ArrayNode struct(InternalRow row, StructType type) {
    ArrayNode found = MAPPER.createArrayNode();
    StructField[] fields = type.fields();
    for (int i = 0; i < fields.length; i++) {
      found.add(value(row, i, fields[i].dataType()));
    }
    return found;
  }

  private static ArrayNode list(ArrayData values, DataType type) {
    ArrayNode found = MAPPER.createArrayNode();
    for (int i = 0; i < values.numElements(); i++) {
      found.add(value(values, i, type));
    }
    return found;
  }

  private static JsonNode value(SpecializedGetters from, int i, DataType type) {
    if (from.isNullAt(i)) {
      return MAPPER.nullNode();
    } else if (type instanceof ArrayType array) {
      return list(from.getArray(i), array.elementType());
    } else if (type instanceof MapType map) {
      MapData found = from.getMap(i);
      ArrayNode both = MAPPER.createArrayNode();
      both.add(list(found.keyArray(), map.keyType()));
      return both.add(list(found.valueArray(), map.valueType()));
    } else if (type instanceof StructType struct) {
      return struct(from.getStruct(i, struct.length()), struct);
    } else if (type instanceof VariantType) {
      VariantVal variant = from.getVariant(i);
      ArrayNode both = MAPPER.createArrayNode();
      return both.add(base64(variant.getValue())).add(base64(variant.getMetadata()));
    }
    return MAPPER.getNodeFactory().textNode(primitive(from, i, type));
  }

  private static String primitive(SpecializedGetters from, int i, DataType type) {
    if (type instanceof BooleanType) {
      return Boolean.toString(from.getBoolean(i));
    } else if (type instanceof ByteType) {
      return Byte.toString(from.getByte(i));
    } else if (type instanceof ShortType) {
      return Short.toString(from.getShort(i));
    } else if (type instanceof IntegerType
        || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return Integer.toString(from.getInt(i));
    } else if (type instanceof FloatType) {
      return Integer.toUnsignedString(Float.floatToRawIntBits(from.getFloat(i)));
    } else if (type instanceof DoubleType) {
      return Long.toUnsignedString(Double.doubleToRawLongBits(from.getDouble(i)));
    } else if (type instanceof DecimalType decimal) {
      return from.getDecimal(i, decimal.precision(), decimal.scale())
          .toJavaBigDecimal()
          .unscaledValue()
          .toString();
    } else if (type instanceof StringType) {
      return from.getUTF8String(i).toString();
    } else if (type instanceof BinaryType) {
      return base64(from.getBinary(i));
    }
    return Long.toString(from.getLong(i));
  }

  private static String base64(byte[] bytes) {
    return Base64.getEncoder().encodeToString(bytes);
  }
}
