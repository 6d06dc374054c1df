package colonnade.read.feed;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
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
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/**
 * Whether two values of a type are the same. NaN is the same as NaN, whatever its bits, and -0.0 is
 * another value than 0.0. Texts are the same if their bytes are, whatever their collation. Nested
 * values are compared part by part, and the entries of maps in their order.
 *
 * <p>Spec: docs/spec/feed.md#the-change-of-a-span
 */
interface SameValue {
  /** Whether a value of a row or of an array is the same as a value of another one. */
  boolean same(SpecializedGetters one, int place, SpecializedGetters other, int there);

  /** Returns the comparison of the values of a type, NULL among them. */
  static SameValue of(DataType type) {
    SameValue present = present(type);
    return (one, place, other, there) -> {
      boolean isNull = one.isNullAt(place);
      return isNull == other.isNullAt(there)
          && (isNull || present.same(one, place, other, there));
    };
  }

  private static SameValue present(DataType type) {
    if (type instanceof StructType struct) {
      return structs(struct);
    }
    if (type instanceof ArrayType array) {
      SameValue elements = of(array.elementType());
      return (a, i, b, j) -> sameElements(a.getArray(i), b.getArray(j), elements);
    }
    if (type instanceof MapType map) {
      SameValue keys = of(map.keyType());
      SameValue values = of(map.valueType());
      return (a, i, b, j) ->
          sameElements(a.getMap(i).keyArray(), b.getMap(j).keyArray(), keys)
              && sameElements(a.getMap(i).valueArray(), b.getMap(j).valueArray(), values);
    }
    if (type instanceof StringType) {
      return (a, i, b, j) -> a.getUTF8String(i).equals(b.getUTF8String(j));
    }
    if (type instanceof BinaryType) {
      return (a, i, b, j) -> Arrays.equals(a.getBinary(i), b.getBinary(j));
    }
    if (type instanceof VariantType) {
      return (a, i, b, j) -> a.getVariant(i).equals(b.getVariant(j));
    }
    return type instanceof NullType ? (a, i, b, j) -> true : numbers(type);
  }

  private static SameValue numbers(DataType type) {
    if (type instanceof DecimalType decimal) {
      int digits = decimal.precision();
      int scale = decimal.scale();
      return (a, i, b, j) ->
          a.getDecimal(i, digits, scale).compareTo(b.getDecimal(j, digits, scale)) == 0;
    }
    if (type instanceof DoubleType) {
      // This gives every NaN the same bits.
      return (a, i, b, j) ->
          Double.doubleToLongBits(a.getDouble(i)) == Double.doubleToLongBits(b.getDouble(j));
    }
    if (type instanceof FloatType) {
      return (a, i, b, j) ->
          Float.floatToIntBits(a.getFloat(i)) == Float.floatToIntBits(b.getFloat(j));
    }
    if (type instanceof BooleanType) {
      return (a, i, b, j) -> a.getBoolean(i) == b.getBoolean(j);
    }
    if (type instanceof ByteType) {
      return (a, i, b, j) -> a.getByte(i) == b.getByte(j);
    }
    if (type instanceof ShortType) {
      return (a, i, b, j) -> a.getShort(i) == b.getShort(j);
    }
    if (type instanceof IntegerType
        || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return (a, i, b, j) -> a.getInt(i) == b.getInt(j);
    }
    // Longs, and the microseconds and nanoseconds of times and intervals.
    return (a, i, b, j) -> a.getLong(i) == b.getLong(j);
  }

  private static SameValue structs(StructType type) {
    List<SameValue> fields = new ArrayList<>();
    for (StructField field : type.fields()) {
      fields.add(of(field.dataType()));
    }
    int count = fields.size();
    return (a, i, b, j) -> {
      var one = a.getStruct(i, count);
      var other = b.getStruct(j, count);
      for (int field = 0; field < count; field++) {
        if (!fields.get(field).same(one, field, other, field)) {
          return false;
        }
      }
      return true;
    };
  }

  private static boolean sameElements(ArrayData one, ArrayData other, SameValue elements) {
    int count = one.numElements();
    if (count != other.numElements()) {
      return false;
    }
    for (int i = 0; i < count; i++) {
      if (!elements.same(one, i, other, i)) {
        return false;
      }
    }
    return true;
  }
}
