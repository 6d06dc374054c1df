package colonnade.write.job;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * A column whose values the table gives to new rows. Spec: docs/spec/types.md#identity-columns
 *
 * @param position the place of the column among those of the table
 * @param id the id of the column
 * @param step the distance between two values, never 0
 * @param always whether a user may not give a value
 */
public record IdentityColumn(
    int position, int id, String name, DataType type, long step, boolean always) {

  /** Returns those among the columns of a table, which the log states. */
  static List<IdentityColumn> of(JsonNode columns) {
    List<IdentityColumn> found = new ArrayList<>();
    for (int at = 0; at < columns.size(); at++) {
      JsonNode column = columns.get(at);
      JsonNode stated = column.path("identity");
      if (stated.isObject()) {
        found.add(
            new IdentityColumn(
                at,
                column.get("id").intValue(),
                column.get("name").textValue(),
                typeOf(column.get("type").textValue()),
                stated.get("step").longValue(),
                stated.get("always").booleanValue()));
      }
    }
    return found;
  }

  private static DataType typeOf(String text) {
    return switch (text) {
      case "byte" -> DataTypes.ByteType;
      case "short" -> DataTypes.ShortType;
      case "int" -> DataTypes.IntegerType;
      default -> DataTypes.LongType;
    };
  }
}
