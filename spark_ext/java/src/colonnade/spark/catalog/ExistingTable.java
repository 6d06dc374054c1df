package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.sink.ColonnadeTable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Compares a statement that creates or replaces a table with a Colonnade table that is there.
 * Spark's catalog may register a table at a LOCATION only if the statement describes it.
 */
final class ExistingTable {
  private ExistingTable() {}

  /**
   * Refuses a statement that describes the table at {@code path} differently. If the statement lists
   * columns, it must list all of them.
   */
  static void refuseOther(String path, TableDesign design, Transform[] layout) {
    ColonnadeTable table = ColonnadeTable.load(path, Map.of());
    StructType said = design.schema();
    boolean same = table.schema().sameType(said) && isTrueOf(table.schema(), said);
    if (!said.isEmpty() && !same) {
      throw existsOtherwise(path, "the columns " + table.schema().toDDL(), "the columns");
    }
    if (!Tables.isLaidOut(table, layout)) {
      String has = Arrays.toString(table.partitioning());
      throw existsOtherwise(path, "the layout " + has, "PARTITIONED BY and CLUSTER BY");
    }
    Map<String, String> properties = new HashMap<>(design.properties());
    if (design.comment() != null) {
      properties.put(TableCatalog.PROP_COMMENT, design.comment());
    }
    if (!design.constraints().isEmpty()) {
      throw existsOtherwise(path, "constraints of its own", "CONSTRAINT and CHECK");
    }
    if (!table.properties().entrySet().containsAll(properties.entrySet())) {
      throw existsOtherwise(path, "other properties", "TBLPROPERTIES and COMMENT");
    }
  }

  /** Refuses to replace the table at {@code path} by one at another path. */
  static void refuseMove(String path, String other) {
    if (!other.equals(path)) {
      throw ColonnadeException.invalid(
          "The table to replace is stored at %s, not at %s; leave out LOCATION, or drop the"
              + " table before you create it elsewhere.",
          path, other);
    }
  }

  /** Whether the columns have the NOT NULL and the comments that a statement states. */
  private static boolean isTrueOf(DataType columns, DataType said) {
    if (said instanceof StructType struct) {
      StructField[] fields = struct.fields();
      StructField[] found = ((StructType) columns).fields();
      return IntStream.range(0, fields.length).allMatch(i -> isTrueOf(found[i], fields[i]));
    }
    if (said instanceof ArrayType array) {
      return isTrueOf(((ArrayType) columns).elementType(), array.elementType());
    }
    return !(said instanceof MapType map)
        || isTrueOf(((MapType) columns).valueType(), map.valueType());
  }

  private static boolean isTrueOf(StructField column, StructField said) {
    return (said.nullable() || !column.nullable())
        && (said.getComment().isEmpty() || said.getComment().equals(column.getComment()))
        && isTrueOf(column.dataType(), said.dataType());
  }

  private static RuntimeException existsOtherwise(String path, String has, String leaveOut) {
    return ColonnadeException.unchecked(
        "COLONNADE_ALREADY_EXISTS",
        "The Colonnade table %s has %s; leave out %s to use it.", path, has, leaveOut);
  }
}
