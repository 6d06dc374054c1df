package colonnade.spark.table;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * The partition fields that let Spark bring rows together without a shuffle. They are the fields of
 * columns that a query reads, if Spark can compare them with the fields of another table.
 *
 * @param positions which fields of the layout they are
 */
public record PartitionKeys(List<PartitionLayout.Field> fields, List<Integer> positions, StructType read) {
  public static final PartitionKeys NONE = new PartitionKeys(List.of(), List.of(), new StructType());

  /** The keys of a read of some columns; none where the session wants none. */
  public static PartitionKeys of(PartitionLayout layout, StructType read) {
    if (!SQLConf.get().v2BucketingEnabled()) {
      return NONE;
    }
    List<PartitionLayout.Field> fields = new ArrayList<>();
    List<Integer> positions = new ArrayList<>();
    for (int at = 0; at < layout.fields().size(); at++) {
      PartitionLayout.Field field = layout.fields().get(at);
      boolean usable = field.isComparable() && layout.isCallable(field);
      if (usable && read.getFieldIndex(field.column()).isDefined()) {
        fields.add(field);
        positions.add(at);
      }
    }
    return new PartitionKeys(fields, positions, read);
  }

  /** Every field of a layout, for a table of that schema. */
  static PartitionKeys all(PartitionLayout layout, StructType schema) {
    List<Integer> positions = IntStream.range(0, layout.fields().size()).boxed().toList();
    return new PartitionKeys(layout.fields(), positions, schema);
  }

  public boolean isEmpty() {
    return fields.isEmpty();
  }

  public Expression[] transforms() {
    return fields.stream().map(PartitionLayout.Field::asTransform).toArray(Expression[]::new);
  }

  /** The key of a partition, whose values the planner gives one for each field of the layout. */
  public InternalRow key(List<String> partition) {
    Object[] values = new Object[fields.size()];
    for (int i = 0; i < values.length; i++) {
      String value = partition.get(positions.get(i));
      DataType type = fields.get(i).type(read);
      values[i] = value == null ? null : BoundText.value(value, type);
    }
    return new GenericInternalRow(values);
  }
}
