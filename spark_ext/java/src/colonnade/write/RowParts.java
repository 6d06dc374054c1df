package colonnade.write;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Some columns of rows, by their places. */
final class RowParts {
  private RowParts() {}

  static StructType schema(List<Integer> places, StructType rowSchema) {
    return new StructType(
        places.stream().map(at -> rowSchema.fields()[at]).toArray(StructField[]::new));
  }

  static UnsafeProjection projection(List<Integer> places, StructType rowSchema) {
    List<Expression> columns = new ArrayList<>();
    for (int at : places) {
      StructField field = rowSchema.fields()[at];
      columns.add(new BoundReference(at, field.dataType(), field.nullable()));
    }
    return UnsafeProjection.create(CollectionConverters.asScala(columns).toSeq());
  }
}
