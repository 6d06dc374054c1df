package colonnade.spark.catalog;

import colonnade.format.PartitionTransform;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A transform as a function that users and Spark call, such as {@code bucket(16, id)}. Spark uses
 * it to bring the rows of a partition together before a write, and to detect that two tables have
 * the same partitioning.
 */
public final class TransformFunction implements UnboundFunction {
  private final PartitionTransform transform;

  private TransformFunction(PartitionTransform transform) {
    this.transform = transform;
  }

  /** Returns the names of all such functions. */
  public static List<String> names() {
    return Arrays.stream(PartitionTransform.values())
        .filter(transform -> transform != PartitionTransform.IDENTITY)
        .map(PartitionTransform::text)
        .toList();
  }

  /** Returns the function with one of the {@link #names}. */
  public static TransformFunction named(String name) {
    return new TransformFunction(PartitionTransform.named(name));
  }

  @Override
  public String name() {
    return transform.text();
  }

  @Override
  public String description() {
    return transform.signature() + ": the partition of a value, as tables partitioned by it have it";
  }

  /**
   * The function for arguments of some types.
   *
   * @throws UnsupportedOperationException where the transform takes none such
   */
  @Override
  public BoundFunction bind(StructType arguments) {
    int last = transform.hasArgument() ? 1 : 0;
    if (arguments.length() != last + 1) {
      throw new UnsupportedOperationException("Call it as " + transform.signature() + ".");
    }
    DataType type = arguments.fields()[last].dataType();
    DataType result = transform.resultType(type);
    if (result == null) {
      throw new UnsupportedOperationException(
          "The partition transform " + name() + " does not take " + type.simpleString() + ".");
    }
    return new BoundTransform(transform, type, result);
  }
}
