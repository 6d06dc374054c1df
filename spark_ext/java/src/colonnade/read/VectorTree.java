package colonnade.read;

import colonnade.format.TableField.Kind;
import colonnade.format.TableField;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/**
 * Creates the vectors of a Spark type over a stored column. Spark may want only some of the nested
 * fields.
 */
final class VectorTree {
  private VectorTree() {}

  static ColonnadeVector of(DataType type, TableField field) {
    check(type, field);
    int count = field.children().size();
    ColonnadeVector[] stored = new ColonnadeVector[count];
    if (type instanceof ArrayType list) {
      stored[0] = of(list.elementType(), field.children().get(0));
      return new ColonnadeVector(type, stored, stored, false);
    }
    if (type instanceof MapType map) {
      stored[0] = of(map.keyType(), field.children().get(0));
      stored[1] = of(map.valueType(), field.children().get(1));
      return new ColonnadeVector(type, stored, stored, false);
    }
    if (type instanceof StructType struct) {
      return struct(struct, field, stored);
    }
    for (int i = 0; i < count; i++) {
      // A variant has two binary children.
      stored[i] = new ColonnadeVector(BinaryType$.MODULE$);
    }
    return new ColonnadeVector(type, stored, stored, true);
  }

  /** Creates the vector of a column that has an order, and that Spark does not see. */
  static ColonnadeVector ofOrdered(TableField field) {
    boolean isText = field.kind() == Kind.UTF8 || field.kind() == Kind.BINARY;
    return new ColonnadeVector(isText ? BinaryType$.MODULE$ : LongType$.MODULE$);
  }

  private static ColonnadeVector struct(
      StructType type, TableField field, ColonnadeVector[] stored) {
    StructField[] wanted = type.fields();
    ColonnadeVector[] children = new ColonnadeVector[wanted.length];
    for (int i = 0; i < wanted.length; i++) {
      int at = find(wanted[i].name(), field);
      children[i] = of(wanted[i].dataType(), field.children().get(at));
      stored[at] = children[i];
    }
    return new ColonnadeVector(type, children, stored, true);
  }

  /**
   * Returns the position of a field in a struct. An exact name takes precedence over a name that
   * differs in case.
   */
  private static int find(String name, TableField struct) {
    int found = -1;
    for (int i = 0; i < struct.children().size(); i++) {
      String each = struct.children().get(i).name();
      if (each.equals(name)) {
        return i;
      }
      found = each.equalsIgnoreCase(name) ? i : found;
    }
    if (found < 0) {
      throw new IllegalArgumentException(
          "Column '" + struct.name() + "' has no field '" + name + "'.");
    }
    return found;
  }

  private static void check(DataType type, TableField field) {
    boolean same = kindOf(type) == field.kind();
    if (type instanceof DecimalType decimal && same) {
      same = decimal.precision() == field.precision() && decimal.scale() == field.scale();
    }
    if (!same || (type instanceof VariantType) != field.isVariant()) {
      throw new IllegalArgumentException(
          "Column '" + field.name() + "' of type " + field.type() + " cannot be read as "
              + type.simpleString() + ".");
    }
  }

  private static Kind kindOf(DataType type) {
    if (type instanceof BooleanType) {
      return Kind.BOOLEAN;
    } else if (type instanceof ByteType) {
      return Kind.INT8;
    } else if (type instanceof ShortType) {
      return Kind.INT16;
    } else if (type instanceof IntegerType || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return Kind.INT32;
    } else if (type instanceof FloatType) {
      return Kind.FLOAT32;
    } else if (type instanceof DoubleType) {
      return Kind.FLOAT64;
    } else if (type instanceof DecimalType) {
      return Kind.DECIMAL;
    } else if (type instanceof StringType) {
      return Kind.UTF8;
    } else if (type instanceof BinaryType) {
      return Kind.BINARY;
    } else if (type instanceof ArrayType) {
      return Kind.LIST;
    } else if (type instanceof MapType) {
      return Kind.MAP;
    } else if (type instanceof StructType || type instanceof VariantType) {
      return Kind.STRUCT;
    } else if (type instanceof NullType) {
      return Kind.VOID;
    }
    // The remaining types are long, timestamps, time and day-time intervals.
    return Kind.INT64;
  }
}
