package colonnade.write;

import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Puts U+FFFD in the place of bytes that are not valid UTF-8, in the texts of a row at any depth.
 *
 * <p>One U+FFFD replaces each maximal subpart, as in Python's decoder. Every function returns its
 * argument itself if all text is valid. Spec: docs/spec/types.md#invalid-text
 */
public final class TextReplacement {
  private TextReplacement() {}

  /**
   * Returns the replacement for rows of a schema. Its result may share memory with its argument.
   *
   * <p>It throws an {@link org.apache.spark.sql.AnalysisException} that names the column where two
   * keys of a map become one, and where text of a column in {@code used} is not valid: Spark's plan
   * has already used these columns.
   */
  public static UnaryOperator<InternalRow> inRows(StructType schema, Set<String> used) {
    UnaryOperator<Object> replace = inStruct(schema, "", used);
    return replace == null ? row -> row : row -> (InternalRow) replace.apply(row);
  }

  private static UnaryOperator<Object> refusal(String column, UnaryOperator<Object> replace) {
    return value -> {
      if (replace.apply(value) != value) {
        throw Refusal.invalid(
            "Column " + ColumnNames.quote(column) + " has text that is not valid UTF-8, and a"
                + " generated column or a constraint has already read it; correct the text in the"
                + " statement, for example with make_valid_utf8.");
      }
      return value;
    };
  }

  /**
   * Returns the replacement in values of a type other than NULL, or null if the type has no text.
   */
  private static UnaryOperator<Object> in(DataType type, String path) {
    if (type instanceof StringType) {
      return value -> ((UTF8String) value).isValid() ? value : ((UTF8String) value).makeValid();
    }
    if (type instanceof ArrayType array) {
      DataType element = array.elementType();
      UnaryOperator<Object> replace = in(element, path + ".element");
      return replace == null ? null : value -> elements((ArrayData) value, element, replace);
    }
    if (type instanceof MapType map) {
      return inMap(map, path);
    }
    return type instanceof StructType struct ? inStruct(struct, path + ".", Set.of()) : null;
  }

  private static UnaryOperator<Object> inStruct(
      StructType type, String prefix, Set<String> used) {
    StructField[] fields = type.fields();
    List<UnaryOperator<Object>> replace = new ArrayList<>();
    for (StructField field : fields) {
      UnaryOperator<Object> inField = in(field.dataType(), prefix + field.name());
      boolean refused = inField != null && used.contains(field.name());
      replace.add(refused ? refusal(field.name(), inField) : inField);
    }
    return replace.stream().allMatch(each -> each == null)
        ? null
        : value -> struct((InternalRow) value, fields, replace);
  }

  private static Object struct(
      InternalRow row, StructField[] fields, List<UnaryOperator<Object>> replace) {
    Object[] values = null;
    for (int i = 0; i < fields.length; i++) {
      if (replace.get(i) == null || row.isNullAt(i)) {
        continue;
      }
      Object old = row.get(i, fields[i].dataType());
      Object valid = replace.get(i).apply(old);
      if (valid != old) {
        values = values == null ? values(row, fields) : values;
        values[i] = valid;
      }
    }
    return values == null ? row : new GenericInternalRow(values);
  }

  private static Object[] values(InternalRow row, StructField[] fields) {
    Object[] values = new Object[fields.length];
    for (int i = 0; i < fields.length; i++) {
      values[i] = row.isNullAt(i) ? null : row.get(i, fields[i].dataType());
    }
    return values;
  }

  private static ArrayData elements(
      ArrayData array, DataType type, UnaryOperator<Object> replace) {
    Object[] values = null;
    for (int i = 0; i < array.numElements(); i++) {
      if (array.isNullAt(i)) {
        continue;
      }
      Object old = array.get(i, type);
      Object valid = replace.apply(old);
      if (valid != old) {
        values = values == null ? array.toObjectArray(type) : values;
        values[i] = valid;
      }
    }
    return values == null ? array : new GenericArrayData(values);
  }

  private static UnaryOperator<Object> inMap(MapType type, String path) {
    UnaryOperator<Object> inKeys = in(type.keyType(), path + ".key");
    UnaryOperator<Object> inValues = in(type.valueType(), path + ".value");
    if (inKeys == null && inValues == null) {
      return null;
    }
    Comparator<Object> order =
        inKeys == null ? null : TypeUtils.getInterpretedOrdering(type.keyType());
    return value -> {
      MapData map = (MapData) value;
      ArrayData oldKeys = map.keyArray();
      ArrayData oldValues = map.valueArray();
      ArrayData keys = inKeys == null ? oldKeys : elements(oldKeys, type.keyType(), inKeys);
      ArrayData values =
          inValues == null ? oldValues : elements(oldValues, type.valueType(), inValues);
      if (keys != oldKeys
          && distinct(keys, type.keyType(), order) < distinct(oldKeys, type.keyType(), order)) {
        throw Refusal.invalid(
            "Column " + ColumnNames.quote(path)
                + " has a map with two keys that become equal once U+FFFD"
                + " replaces bytes that are not valid UTF-8; correct these keys.");
      }
      return keys == oldKeys && values == oldValues ? map : new ArrayBasedMapData(keys, values);
    };
  }

  private static int distinct(ArrayData keys, DataType type, Comparator<Object> order) {
    TreeSet<Object> seen = new TreeSet<>(order);
    for (int i = 0; i < keys.numElements(); i++) {
      seen.add(keys.get(i, type));
    }
    return seen.size();
  }
}
