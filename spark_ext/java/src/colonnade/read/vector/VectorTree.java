package colonnade.read.vector;

import colonnade.format.SparkType;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Creates the vectors of a Spark type over a stored column. Spark may want only some of the nested
 * fields.
 */
public final class VectorTree {
  private VectorTree() {}

  public static ColonnadeVector of(DataType type, TableField field) {
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
  public static ColonnadeVector ofOrdered(TableField field) {
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

  private static int find(String name, TableField struct) {
    TableField found = TableField.find(name, struct.children());
    if (found == null) {
      throw new IllegalArgumentException(
          "Column '" + struct.name() + "' has no field '" + name + "'.");
    }
    return struct.children().indexOf(found);
  }

  private static void check(DataType type, TableField field) {
    boolean same = field.base().equals(SparkType.base(type));
    if (type instanceof DecimalType decimal && same) {
      same = decimal.precision() == field.precision() && decimal.scale() == field.scale();
    }
    if (!same) {
      throw new IllegalArgumentException(
          "Column '" + field.name() + "' of type " + field.type() + " cannot be read as "
              + type.simpleString() + ".");
    }
  }
}
