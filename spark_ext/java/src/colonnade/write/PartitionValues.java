package colonnade.write;

import colonnade.format.PartitionTransform;
import colonnade.format.TableField;
import colonnade.format.TextLength;
import colonnade.write.job.WriteJob;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function2;

/** Computes the partition of a row: one value or null for each field of the layout. */
final class PartitionValues {
  /** The most bytes of a string or binary value in the log. */
  private static final int VALUE_LIMIT = 1024;

  private final List<Field> fields = new ArrayList<>();

  /** A field of the layout and the position of its column in the rows. */
  private record Field(
      String column,
      PartitionTransform transform,
      int argument,
      int ordinal,
      String prefix,
      DataType type,
      TextLength length,
      Function2<SpecializedGetters, Object, Object> accessor) {

    Object of(InternalRow row) {
      Object value = row.isNullAt(ordinal) ? null : accessor.apply(row, ordinal);
      if (value instanceof UTF8String text && !length.isFree()) {
        value = length.fit(text);
      }
      return value == null ? null : transform.apply(value, type, argument);
    }
  }

  /**
   * Prepares for rows of a schema, whose columns are matched by name. Requires: they fit the table.
   */
  PartitionValues(WriteJob job, StructType rowSchema) {
    int[] ordinals = job.placesIn(rowSchema);
    List<Integer> ids = job.columns().stream().map(TableField::id).toList();
    for (WriteJob.PartitionField field : job.partitionedBy()) {
      int at = ids.indexOf(field.column());
      StructField column = rowSchema.fields()[ordinals[at]];
      fields.add(
          new Field(
              job.columns().get(at).name(),
              field.transform(),
              field.argument(),
              ordinals[at],
              field.transform().isOfColumn() ? job.columns().get(at).prefix() : "i",
              column.dataType(),
              job.columns().get(at).length(),
              InternalRow.getAccessor(column.dataType(), true)));
    }
  }

  /**
   * Returns the partition values of a row. They may refer to the memory of the row, so use them
   * only for comparison and copy them with {@link #kept} otherwise.
   */
  Object[] of(InternalRow row) {
    Object[] values = new Object[fields.size()];
    for (int i = 0; i < values.length; i++) {
      Object value = fields.get(i).of(row);
      values[i] = value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value;
    }
    return values;
  }

  /** Returns copies of the values that do not refer to the memory of a row. */
  static List<Object> kept(Object[] values) {
    return Arrays.stream(values)
        .map(value -> value instanceof UTF8String text ? text.copy() : value)
        .toList();
  }

  /**
   * Returns the values in the form that the log stores. Spec: docs/spec/partitions.md
   *
   * @throws org.apache.spark.sql.AnalysisException naming the column, if a value is too long for
   *     the log
   */
  List<String> prefixed(List<Object> values) {
    List<String> prefixed = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      prefixed.add(prefixed(values.get(i), fields.get(i)));
    }
    return prefixed;
  }

  private static String prefixed(Object value, Field field) {
    if (value == null) {
      return null;
    }
    if (value instanceof UTF8String text) {
      requireShort(text.numBytes(), field.column());
      return field.prefix() + ":" + text;
    }
    if (value instanceof ByteBuffer bytes) {
      requireShort(bytes.remaining(), field.column());
      return field.prefix() + ":" + Base64.getEncoder().encodeToString(bytes.array());
    }
    if (value instanceof Decimal decimal) {
      return field.prefix() + ":" + decimal.toJavaBigDecimal().unscaledValue();
    }
    return field.prefix() + ":" + (value instanceof Boolean truth ? (truth ? 1 : 0) : value);
  }

  private static void requireShort(int bytes, String column) {
    if (bytes > VALUE_LIMIT) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(column) + " cannot be partitioned by: a value has " + bytes
              + " bytes, and at most " + VALUE_LIMIT + " are allowed in the log; use truncate.");
    }
  }
}
