package colonnade.spark.catalog;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** Rows that the planner returned as JSON lists of Spark's internal values. */
record LocalRows(StructType readSchema, JsonNode values) implements LocalScan {

  @Override
  public InternalRow[] rows() {
    return StreamSupport.stream(values.spliterator(), false)
        .map(row -> row(row, readSchema))
        .toArray(InternalRow[]::new);
  }

  private static InternalRow row(JsonNode row, StructType schema) {
    Object[] found = new Object[schema.length()];
    for (int at = 0; at < found.length; at++) {
      found[at] = value(row.get(at), schema.apply(at).dataType());
    }
    return new GenericInternalRow(found);
  }

  private static Object value(JsonNode node, DataType type) {
    if (node == null || node.isNull()) {
      return null;
    }
    if (type instanceof MapType map) {
      Map<Object, Object> pairs = new LinkedHashMap<>();
      for (Map.Entry<String, JsonNode> entry : node.properties()) {
        Object key = UTF8String.fromString(entry.getKey());
        pairs.put(key, value(entry.getValue(), map.valueType()));
      }
      return new ArrayBasedMapData(
          new GenericArrayData(pairs.keySet().toArray()),
          new GenericArrayData(pairs.values().toArray()));
    }
    if (type instanceof ArrayType array) {
      return new GenericArrayData(
          StreamSupport.stream(node.spliterator(), false)
              .map(element -> value(element, array.elementType()))
              .toArray());
    }
    if (type instanceof StructType struct) {
      return row(node, struct);
    }
    if (type instanceof BooleanType) {
      return node.asBoolean();
    }
    if (type instanceof IntegerType) {
      return node.asInt();
    }
    if (type instanceof DoubleType) {
      return node.asDouble();
    }
    // Longs, and the microseconds of a timestamp.
    return node.isTextual() ? UTF8String.fromString(node.asText()) : (Object) node.asLong();
  }
}
