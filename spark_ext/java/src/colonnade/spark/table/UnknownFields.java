package colonnade.spark.table;

import java.util.Optional;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The search for a field inside columns of rows that the table of these rows lacks. */
public final class UnknownFields {
  private UnknownFields() {}

  /**
   * Returns the path of the first field that rows have inside a column, and their table lacks.
   * Columns and fields are matched by name. Whole columns that the table lacks are left out.
   */
  public static Optional<String> byName(StructType table, StructType rows) {
    return find(table, rows, true);
  }

  /** Does as {@code byName} does, where columns and fields are matched by position. */
  public static Optional<String> byPosition(StructType table, StructType rows) {
    return find(table, rows, false);
  }

  /** Returns the field of a name, in upper or lower case; null if there is none. */
  public static StructField named(StructType fields, String name) {
    for (StructField field : fields.fields()) {
      if (field.name().equalsIgnoreCase(name)) {
        return field;
      }
    }
    return null;
  }

  private static Optional<String> find(StructType table, StructType rows, boolean byName) {
    for (int at = 0; at < rows.size(); at++) {
      StructField given = rows.fields()[at];
      if (given.dataType() instanceof AtomicType) {
        continue; // most columns of a wide table
      }
      StructField own = match(table, given.name(), at, byName);
      Optional<String> found =
          own == null
              ? Optional.empty()
              : inside(own.dataType(), given.dataType(), own.name(), byName);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> inside(
      DataType own, DataType given, String path, boolean byName) {
    if (own instanceof StructType table && given instanceof StructType rows) {
      for (int at = 0; at < rows.size(); at++) {
        String name = rows.fields()[at].name();
        if (match(table, name, at, byName) == null) {
          return Optional.of(path + "." + name);
        }
      }
      return find(table, rows, byName).map(below -> path + "." + below);
    }
    if (own instanceof ArrayType table && given instanceof ArrayType rows) {
      return inside(table.elementType(), rows.elementType(), path + ".element", byName);
    }
    if (own instanceof MapType table && given instanceof MapType rows) {
      return inside(table.keyType(), rows.keyType(), path + ".key", byName)
          .or(() -> inside(table.valueType(), rows.valueType(), path + ".value", byName));
    }
    return Optional.empty();
  }

  private static StructField match(StructType table, String name, int at, boolean byName) {
    if (byName) {
      return named(table, name);
    }
    return at < table.size() ? table.fields()[at] : null;
  }
}
