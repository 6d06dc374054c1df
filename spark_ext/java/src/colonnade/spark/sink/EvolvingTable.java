package colonnade.spark.sink;

import colonnade.planner.Planner;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsSchemaEvolution;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;

/**
 * A table that says which columns a statement WITH SCHEMA EVOLUTION may change. Spark casts the
 * values of the other columns, as it does without schema evolution.
 *
 * <p>Only Spark versions with {@link SupportsSchemaEvolution} can load this class; Spark 4.1 cannot.
 */
final class EvolvingTable extends ColonnadeTable implements SupportsSchemaEvolution {
  private EvolvingTable(
      JsonNode loaded,
      boolean callable,
      boolean deletedFrom,
      Map<String, String> catalogProperties) {
    super(loaded, callable, deletedFrom, catalogProperties);
  }

  /** Its declared type lets other classes call it without loading this one first. */
  static ColonnadeTable of(
      JsonNode loaded,
      boolean callable,
      boolean deletedFrom,
      Map<String, String> catalogProperties) {
    return new EvolvingTable(loaded, callable, deletedFrom, catalogProperties);
  }

  /**
   * Whether Spark asks for a change before the statement. It does not ask where it can cast the
   * values to the column as it is. A change that is neither possible nor needed is refused then.
   */
  @Override
  public boolean supportsColumnChange(TableChange.ColumnChange change) {
    if (change instanceof TableChange.UpdateColumnType update) {
      return update.fieldNames().length == 1 && mustChange(update);
    }
    return change instanceof TableChange.AddColumn;
  }

  private boolean mustChange(TableChange.UpdateColumnType update) {
    Optional<Column> found =
        Arrays.stream(columns())
            .filter(column -> column.name().equalsIgnoreCase(update.fieldNames()[0]))
            .findFirst();
    if (found.isEmpty()) {
      return false;
    }
    DataType own = found.get().dataType();
    DataType given = update.newDataType();
    return mayWiden(own, given)
        || !(own instanceof StringType || Cast.canANSIStoreAssign(given, own));
  }

  private static boolean mayWiden(DataType own, DataType given) {
    Map<String, Object> types = Map.of("own", own.json(), "given", given.json());
    return Planner.call("may_widen", types).get("may").asBoolean();
  }
}
