package colonnade.format.arrow;

import colonnade.format.TableField;
import java.util.List;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/**
 * The fields of Arrow as which streams store the values of a column. Writers state them, and
 * readers take no other ones. An encoding that stores something else makes a field of its own.
 *
 * <p>Spec: docs/spec/rowset.md#encodings
 */
public final class ArrowForms {
  private ArrowForms() {}

  /** Returns the field of values in their storage type. */
  public static Field plain(TableField column) {
    return named(column, type(column), children(column));
  }

  /** Returns a field that may be NULL, named by the id of the column. */
  public static Field named(TableField column, ArrowType type, List<Field> children) {
    return new Field(Integer.toString(column.id()), FieldType.nullable(type), children);
  }

  /** Returns a field that is never NULL. */
  public static Field required(String name, ArrowType type, List<Field> children) {
    return new Field(name, FieldType.notNullable(type), children);
  }

  private static List<Field> children(TableField column) {
    List<TableField> inside = column.children();
    if (column.isVariant()) {
      return inside.stream().map(each -> required(each.name(), type(each), List.of())).toList();
    }
    List<Field> plain = inside.stream().map(ArrowForms::plain).toList();
    if (column.kind() != TableField.Kind.MAP) {
      return plain;
    }
    Field key = plain.get(0);
    Field keys = required(key.getName(), key.getType(), key.getChildren());
    List<Field> pair = List.of(keys, plain.get(1));
    return List.of(required("entries", ArrowType.Struct.INSTANCE, pair));
  }

  /** Returns the storage type of the values of a column. */
  public static ArrowType type(TableField column) {
    return switch (column.kind()) {
      case BOOLEAN -> ArrowType.Bool.INSTANCE;
      case INT8 -> new ArrowType.Int(8, true);
      case INT16 -> new ArrowType.Int(16, true);
      case INT32 ->
          column.type().equals("date")
              ? new ArrowType.Date(DateUnit.DAY)
              : new ArrowType.Int(32, true);
      case INT64 -> longType(column.type());
      case FLOAT32 -> new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
      case FLOAT64 -> new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
      case DECIMAL -> new ArrowType.Decimal(column.precision(), column.scale(), 128);
      case UTF8 -> ArrowType.Utf8.INSTANCE;
      case BINARY -> ArrowType.Binary.INSTANCE;
      case LIST -> ArrowType.List.INSTANCE;
      case MAP -> new ArrowType.Map(false);
      case STRUCT -> ArrowType.Struct.INSTANCE;
      case VOID -> ArrowType.Null.INSTANCE;
    };
  }

  private static ArrowType longType(String type) {
    if (type.equals("long")) {
      return new ArrowType.Int(64, true);
    }
    if (type.startsWith("timestamp")) {
      return new ArrowType.Timestamp(
          TimeUnit.MICROSECOND, type.equals("timestamp") ? "UTC" : null);
    }
    return type.startsWith("time")
        ? new ArrowType.Time(TimeUnit.NANOSECOND, 64)
        : new ArrowType.Duration(TimeUnit.MICROSECOND);
  }

  /** Whether a field of a stream is the expected one. */
  public static boolean matches(org.apache.arrow.flatbuf.Field found, Field expected) {
    DictionaryEncoding encoding = expected.getDictionary();
    boolean encoded =
        encoding == null
            ? found.dictionary() == null
            : found.dictionary() != null
                && found.dictionary().indexType() != null
                && found.dictionary().indexType().isSigned()
                && found.dictionary().indexType().bitWidth()
                    == encoding.getIndexType().getBitWidth();
    return encoded
        && expected.getName().equals(found.name())
        && expected.isNullable() == found.nullable()
        && hasShape(found, expected);
  }

  /** Whether a field has values of the storage type of a column, whatever its name. */
  static boolean hasType(org.apache.arrow.flatbuf.Field found, TableField column) {
    return hasShape(found, plain(column));
  }

  /** Ignores the names of the fields of lists and maps, as Arrow does. */
  private static boolean hasShape(org.apache.arrow.flatbuf.Field found, Field expected) {
    List<Field> children = expected.getChildren();
    boolean isStored = !(expected.getType() instanceof ArrowType.Null);
    if (!isStored
        || !ArrowType.getTypeForField(found).equals(expected.getType())
        || found.childrenLength() != children.size()) {
      return false;
    }
    if (expected.getType() instanceof ArrowType.Map) {
      org.apache.arrow.flatbuf.Field entries = found.children(0);
      List<Field> pair = children.get(0).getChildren();
      return entries.typeType() == Type.Struct_
          && entries.childrenLength() == 2
          && isPlain(entries.children(0), pair.get(0))
          && isPlain(entries.children(1), pair.get(1));
    }
    boolean named = expected.getType() instanceof ArrowType.Struct;
    for (int i = 0; i < children.size(); i++) {
      org.apache.arrow.flatbuf.Field child = found.children(i);
      if (!(named ? matches(child, children.get(i)) : isPlain(child, children.get(i)))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPlain(org.apache.arrow.flatbuf.Field found, Field expected) {
    return found.dictionary() == null && hasShape(found, expected);
  }

  /** Returns the text of the type if a field is a decimal of 128 bits, else null. */
  static String decimalText(org.apache.arrow.flatbuf.Field found) {
    return ArrowType.getTypeForField(found) instanceof ArrowType.Decimal type
            && type.getBitWidth() == 128
        ? "decimal(" + type.getPrecision() + "," + type.getScale() + ")"
        : null;
  }
}
