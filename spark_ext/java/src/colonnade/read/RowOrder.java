package colonnade.read;

import colonnade.format.TableField;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Descending$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.SortDirection;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's own order of rows by some columns. A sort key has the same order: NULL is first in
 * ascending and last in descending order.
 */
public final class RowOrder {
  private RowOrder() {}

  /** The place of a column in rows, and its direction. */
  public record Key(int place, boolean descending) {}

  /**
   * Returns the order by the fields of a plan.
   *
   * @param schema the columns of the table, by which fields name columns
   * @param read the columns of the rows
   */
  static Comparator<InternalRow> of(JsonNode fields, List<TableField> schema, StructType read) {
    List<Key> keys = new ArrayList<>();
    for (JsonNode field : fields) {
      int place = read.fieldIndex(name(field.get("column").intValue(), schema));
      keys.add(new Key(place, field.path("descending").asBoolean()));
    }
    return of(read, keys);
  }

  /** Returns the order of rows by some of their columns. */
  public static Comparator<InternalRow> of(StructType rows, List<Key> keys) {
    List<SortOrder> orders = new ArrayList<>();
    for (Key key : keys) {
      DataType type = rows.fields()[key.place()].dataType();
      SortDirection direction = key.descending() ? Descending$.MODULE$ : Ascending$.MODULE$;
      orders.add(
          new SortOrder(
              new BoundReference(key.place(), type, true),
              direction,
              direction.defaultNullOrdering(),
              CollectionConverters.asScala(List.<Expression>of()).toSeq()));
    }
    return new LazilyGeneratedOrdering(CollectionConverters.asScala(orders).toSeq());
  }

  private static String name(int column, List<TableField> schema) {
    return schema.stream().filter(field -> field.id() == column).findFirst().orElseThrow().name();
  }
}
