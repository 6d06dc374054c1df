package colonnade.spark.catalog;

import colonnade.format.PartitionTransform;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A transform as a function that users and Spark call, such as {@code colonnade.system.bucket(16, id)}. Spark uses
 * it to bring the rows of a partition together before a write, and to detect that two tables have
 * the same partitioning.
 */
final class TransformFunction implements UnboundFunction {
  private static final String[] NAMESPACE = {DatabaseCatalog.SYSTEM};

  private final PartitionTransform transform;

  private TransformFunction(PartitionTransform transform) {
    this.transform = transform;
  }

  private static Stream<TransformFunction> all() {
    return Arrays.stream(PartitionTransform.values())
        .filter(transform -> transform != PartitionTransform.IDENTITY)
        .map(TransformFunction::new);
  }

  /** Lists the functions in a namespace of a catalog. */
  static Identifier[] list(String[] namespace) {
    return Arrays.equals(namespace, NAMESPACE)
        ? all().map(each -> Identifier.of(namespace, each.name())).toArray(Identifier[]::new)
        : new Identifier[0];
  }

  /**
   * Returns the function with this name, or null. Spark looks up a table's transforms without a
   * namespace.
   */
  static UnboundFunction find(Identifier identifier) {
    String[] namespace = identifier.namespace();
    boolean ours = namespace.length == 0 || Arrays.equals(namespace, NAMESPACE);
    return all()
        .filter(each -> ours && each.name().equals(identifier.name()))
        .findFirst()
        .orElse(null);
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
