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
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's own order of rows by some columns. A sort key has the same order: NULL is first in
 * ascending and last in descending order.
 */
final class RowOrder {
  private RowOrder() {}

  /**
   * Returns the order by the fields of a plan.
   *
   * @param schema the columns of the table, by which fields name columns
   * @param read the columns of the rows
   */
  static Comparator<InternalRow> of(JsonNode fields, List<TableField> schema, StructType read) {
    List<SortOrder> orders = new ArrayList<>();
    for (JsonNode field : fields) {
      int at = read.fieldIndex(name(field.get("column").intValue(), schema));
      Expression column = new BoundReference(at, read.fields()[at].dataType(), true);
      boolean descends = field.path("descending").asBoolean();
      SortDirection direction = descends ? Descending$.MODULE$ : Ascending$.MODULE$;
      orders.add(
          new SortOrder(
              column,
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
