import colonnade.read.ColonnadeReaderFactory;
import colonnade.read.ScanTask;
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
import java.util.Iterator;
import java.util.Map;
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
    Map<String, String> conf = Map.of("fs.shelf.impl", ShelfFileSystem.class.getName());
    ColonnadeReaderFactory factory = new ColonnadeReaderFactory(schema, conf);
    ScanTask task = new ScanTask(request.get("task").textValue(), InternalRow.empty());
    ArrayNode rows = reply.putArray("rows");
    ArrayNode batches = reply.putArray("batches");
    int before = ShelfFileSystem.OPENED.get();
    try (PartitionReader<ColumnarBatch> reader = factory.createColumnarReader(task)) {
      while (reader.next()) {
        ColumnarBatch batch = reader.get();
        batches.add(batch.numRows());
        for (int i = 0; i < schema.length(); i++) {
          if (batch.column(i).numNulls() > batch.numRows()) {
            throw new IllegalStateException("more NULLs than rows");
          }
        }
        for (Iterator<InternalRow> all = batch.rowIterator(); all.hasNext(); ) {
          rows.add(struct(all.next(), schema));
        }
        batch.closeIfFreeable();
      }
    }
    reply.put("opened", ShelfFileSystem.OPENED.get() - before);
    try (PartitionReader<InternalRow> reader = factory.createReader(task)) {
      InternalRow copy = null;
      for (int i = 0; i < rows.size(); i++) {
        require(reader.next(), "there are fewer rows than batches have");
        require(struct(reader.get(), schema).equals(rows.get(i)), "a row is not its batch's");
        require(copy == null || struct(copy, schema).equals(rows.get(i - 1)), "a copy changed");
        copy = reader.get().copy();
      }
      require(!reader.next(), "there are more rows than batches have");
    }
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
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
