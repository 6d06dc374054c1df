package colonnade.format;

import colonnade.format.TableField.Kind;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Duration;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.TimeUnit;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;

/**
 * Checks whether a field of an Arrow stream has exactly the type that a block of a column must
 * have.
 */
public final class ArrowSchema {
  private ArrowSchema() {}

  /** Returns whether the field is named by the column's id and has the column's storage type. */
  public static boolean isColumn(Field field, TableField column) {
    return isNamed(field, column) && field.dictionary() == null && hasType(field, column);
  }

  /**
   * Returns the width in bytes of the indexes if the field is a dictionary of the column's storage
   * type. Returns 0 for any other field.
   */
  public static int indexWidth(Field field, TableField column) {
    DictionaryEncoding encoding = field.dictionary();
    if (encoding == null || !isNamed(field, column) || !hasType(field, column)) {
      return 0;
    }
    Int index = encoding.indexType();
    boolean known = index != null && index.isSigned() && index.bitWidth() <= 32;
    return known ? index.bitWidth() / 8 : 0;
  }

  /**
   * Returns the width in bytes of the values if the field holds narrowed values. These are unsigned
   * integers, or also int64 for a short decimal. Returns 0 for any other field.
   */
  public static int narrowedWidth(Field field, TableField column) {
    if (!isNamed(field, column)) {
      return 0;
    }
    boolean isLong = field.dictionary() == null && isInt(field, 64);
    return isLong && column.isShortDecimal() ? 8 : unsignedWidth(field);
  }

  /**
   * Returns the width in bytes of a length if the field holds the lengths and the values of strings
   * or binary. Returns 0 for any other field.
   */
  public static int lengthWidth(Field field, TableField column) {
    if (!isNamed(field, column)
        || field.dictionary() != null
        || field.typeType() != Type.Struct_
        || field.childrenLength() != 2
        || !(column.kind() == Kind.UTF8 || column.kind() == Kind.BINARY)) {
      return 0;
    }
    Field lengths = field.children(0);
    Field values = field.children(1);
    boolean same =
        "lengths".equals(lengths.name())
            && !lengths.nullable()
            && lengths.dictionary() == null
            && lengths.typeType() == Type.List
            && lengths.childrenLength() == 1
            && "values".equals(values.name())
            && !values.nullable()
            && isPlain(values, column);
    return same ? unsignedWidth(lengths.children(0)) : 0;
  }

  /**
   * Returns the width in bytes if the field is a nullable unsigned integer of at most 32 bits, else
   * 0.
   */
  private static int unsignedWidth(Field field) {
    if (field.dictionary() != null || field.typeType() != Type.Int || !field.nullable()) {
      return 0;
    }
    Int type = (Int) field.type(new Int());
    int bits = type.bitWidth();
    return !type.isSigned() && (bits == 8 || bits == 16 || bits == 32) ? bits / 8 : 0;
  }

  /** Whether a field is nullable and named by the id of a column. */
  static boolean isNamed(Field field, TableField column) {
    return Integer.toString(column.id()).equals(field.name()) && field.nullable();
  }

  public static boolean hasType(Field field, TableField column) {
    byte type = field.typeType();
    return switch (column.kind()) {
      case BOOLEAN -> type == Type.Bool;
      case INT8 -> isInt(field, 8);
      case INT16 -> isInt(field, 16);
      case INT32 -> column.type().equals("date") ? isDate(field) : isInt(field, 32);
      case INT64 -> isLong(field, column.type());
      case FLOAT32 -> isFloat(field, Precision.SINGLE);
      case FLOAT64 -> isFloat(field, Precision.DOUBLE);
      case DECIMAL -> isDecimal(field, column);
      case UTF8 -> type == Type.Utf8;
      case BINARY -> type == Type.Binary;
      case LIST ->
          type == Type.List
              && field.childrenLength() == 1
              && isPlain(field.children(0), column.children().get(0));
      case MAP -> type == Type.Map && isMap(field, column);
      case STRUCT -> type == Type.Struct_ && isStruct(field, column);
      case VOID -> false;
    };
  }

  /** Ignores the field's name, because Arrow ignores the names of the fields of lists and maps. */
  private static boolean isPlain(Field field, TableField column) {
    return field.dictionary() == null && hasType(field, column);
  }

  private static boolean isMap(Field field, TableField column) {
    if (field.childrenLength() != 1) {
      return false;
    }
    Field entries = field.children(0);
    return entries.typeType() == Type.Struct_
        && entries.childrenLength() == 2
        && isPlain(entries.children(0), column.children().get(0))
        && isPlain(entries.children(1), column.children().get(1));
  }

  private static boolean isStruct(Field field, TableField column) {
    if (field.childrenLength() != column.children().size()) {
      return false;
    }
    for (int i = 0; i < column.children().size(); i++) {
      Field child = field.children(i);
      TableField expected = column.children().get(i);
      boolean named =
          column.isVariant()
              ? expected.name().equals(child.name()) && !child.nullable()
              : isNamed(child, expected);
      if (!named || !isPlain(child, expected)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isInt(Field field, int bits) {
    if (field.typeType() != Type.Int) {
      return false;
    }
    Int type = (Int) field.type(new Int());
    return type.isSigned() && type.bitWidth() == bits;
  }

  private static boolean isDate(Field field) {
    return field.typeType() == Type.Date
        && ((Date) field.type(new Date())).unit() == DateUnit.DAY;
  }

  private static boolean isLong(Field field, String type) {
    if (type.equals("long")) {
      return isInt(field, 64);
    }
    if (type.startsWith("timestamp")) {
      if (field.typeType() != Type.Timestamp) {
        return false;
      }
      Timestamp found = (Timestamp) field.type(new Timestamp());
      String zone = found.timezone();
      return found.unit() == TimeUnit.MICROSECOND
          && (type.equals("timestamp") ? "UTC".equals(zone) : zone == null);
    }
    if (type.startsWith("time")) {
      return field.typeType() == Type.Time
          && ((Time) field.type(new Time())).unit() == TimeUnit.NANOSECOND
          && ((Time) field.type(new Time())).bitWidth() == 64;
    }
    return field.typeType() == Type.Duration
        && ((Duration) field.type(new Duration())).unit() == TimeUnit.MICROSECOND;
  }

  private static boolean isFloat(Field field, short precision) {
    return field.typeType() == Type.FloatingPoint
        && ((FloatingPoint) field.type(new FloatingPoint())).precision() == precision;
  }

  /** Returns the text of the type if the field is a decimal of 128 bits, else null. */
  static String decimalText(Field field) {
    if (field.typeType() != Type.Decimal) {
      return null;
    }
    Decimal found = (Decimal) field.type(new Decimal());
    return found.bitWidth() == 128
        ? "decimal(" + found.precision() + "," + found.scale() + ")"
        : null;
  }

  private static boolean isDecimal(Field field, TableField column) {
    return column.kind() == Kind.DECIMAL && column.type().equals(decimalText(field));
  }
}
