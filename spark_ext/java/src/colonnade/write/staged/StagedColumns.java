package colonnade.write.staged;

import colonnade.format.SparkType;
import colonnade.format.TableField;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Creates the staged form of each type, and decides which Spark types may be stored as which type.
 */
public final class StagedColumns {
  private StagedColumns() {}

  /**
   * Creates the staged form of a field whose values arrive as a Spark type.
   *
   * @param staged counts the bytes of variable length
   * @throws org.apache.spark.sql.AnalysisException naming the column, if the field cannot store
   *     values of that type
   */
  public static Staged of(TableField field, DataType found, String path, StagedBytes staged) {
    String base = field.base();
    boolean same = base.equals(SparkType.base(found)) && !field.isVoid();
    if (!same || isOtherDecimal(field, found)) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(path) + " is " + field.type() + ", but the data holds "
              + found.simpleString() + "; cast the data first.");
    }
    return switch (base) {
      case "boolean" -> new StagedBooleans(field, path);
      case "byte" -> new StagedNumbers.Bytes(field, path);
      case "short" -> new StagedNumbers.Shorts(field, path);
      case "int", "date", "interval year to month" -> new StagedNumbers.Ints(field, path);
      case "long", "timestamp", "timestamp_ntz", "interval day to second" ->
          new StagedNumbers.Longs(field, path);
      case "time" -> new StagedNumbers.Times(field, path);
      case "float" -> new StagedFloats(field, path, 4);
      case "double" -> new StagedFloats(field, path, 8);
      case "decimal" ->
          field.precision() > 18
              ? new WideDecimals(field, path)
              : new StagedNumbers.Decimals(field, path);
      case "string", "binary" -> new StagedTexts(field, path, staged);
      case "variant" ->
          new StagedStructs.Variants(
              field,
              path,
              new StagedTexts(field.children().get(0), path, staged),
              new StagedTexts(field.children().get(1), path, staged));
      default -> nested(field, found, path, staged);
    };
  }

  /**
   * Checks that rows have only NULL for a void column, which is not stored.
   *
   * @throws org.apache.spark.sql.AnalysisException naming the column, for rows of another type
   */
  public static void requireVoid(DataType found, String path) {
    if (!(found instanceof NullType)) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(path) + " is void, but the data holds " + found.simpleString()
              + "; give the column a type first.");
    }
  }

  private static Staged nested(
      TableField field, DataType found, String path, StagedBytes staged) {
    if (found instanceof ArrayType array) {
      Staged element = child(field, 0, array.elementType(), path, staged);
      return new StagedLists.Arrays(field, path, staged, element);
    }
    if (found instanceof MapType map) {
      Staged key = child(field, 0, map.keyType(), path, staged);
      Staged value = child(field, 1, map.valueType(), path, staged);
      return new StagedLists.Maps(field, path, staged, key, value);
    }
    StructType struct = (StructType) found;
    List<String> names = field.children().stream().map(TableField::name).toList();
    int[] ordinals =
        ColumnNames.match(List.of(struct.fieldNames()), names, "Column " + ColumnNames.quote(path));
    List<Staged> children = new ArrayList<>();
    for (int i = 0; i < ordinals.length; i++) {
      StructField each = struct.fields()[ordinals[i]];
      children.add(child(field, i, each.dataType(), path, staged));
    }
    return new StagedStructs.Structs(field, path, children, ordinals);
  }

  private static Staged child(
      TableField field, int index, DataType found, String path, StagedBytes staged) {
    TableField child = field.children().get(index);
    return of(child, found, path + "." + child.name(), staged);
  }

  private static boolean isOtherDecimal(TableField field, DataType found) {
    return found instanceof DecimalType decimal
        && (decimal.precision() != field.precision() || decimal.scale() != field.scale());
  }
}
