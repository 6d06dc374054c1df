package colonnade.spark.sink;

import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.MayWiden;
import colonnade.spark.table.TableForm;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.SupportsSchemaEvolution;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;

/**
 * A table that says which columns a statement WITH SCHEMA EVOLUTION may change. Spark casts the
 * values of the other columns, as it does without schema evolution.
 *
 * <p>Only Spark versions with {@link SupportsSchemaEvolution} can load this class; Spark 4.1
 * cannot.
 */
final class EvolvingTable extends ColonnadeTable implements SupportsSchemaEvolution {
  private EvolvingTable(TableForm form) {
    super(form);
  }

  /** Its declared type lets other classes call it without loading this one first. */
  static ColonnadeTable of(TableForm form) {
    return new EvolvingTable(form);
  }

  /**
   * Whether Spark has to ask for a change before the statement. It need not if it can cast the
   * values to the present type of the column. A change that is asked for and not possible is refused
   * when Spark asks for it.
   */
  @Override
  public boolean supportsColumnChange(TableChange.ColumnChange change) {
    if (change instanceof TableChange.UpdateColumnType update) {
      return mustChange(update);
    }
    return change instanceof TableChange.AddColumn;
  }

  private boolean mustChange(TableChange.UpdateColumnType update) {
    // As Spark sees them, with text of a limited length as strings.
    StructType columns = CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema());
    DataType own = find(columns, List.of(update.fieldNames()));
    if (own == null) {
      return false;
    }
    DataType valueType = update.newDataType();
    return mayWiden(own, valueType)
        || !(own instanceof StringType || Cast.canANSIStoreAssign(valueType, own));
  }

  /** Returns the type of the column or field at the end of the names, or null without one. */
  private static DataType find(DataType type, List<String> names) {
    if (names.isEmpty()) {
      return type;
    }
    List<String> rest = names.subList(1, names.size());
    String name = names.get(0);
    if (type instanceof StructType struct) {
      return Arrays.stream(struct.fields())
          .filter(field -> field.name().equalsIgnoreCase(name))
          .findFirst()
          .map(field -> find(field.dataType(), rest))
          .orElse(null);
    }
    if (type instanceof MapType map) {
      return find(name.equals("key") ? map.keyType() : map.valueType(), rest);
    }
    return type instanceof ArrayType array ? find(array.elementType(), rest) : null;
  }

  private static boolean mayWiden(DataType own, DataType valueType) {
    return Planner.call(new MayWiden(own.json(), valueType.json())).yes();
  }
}
