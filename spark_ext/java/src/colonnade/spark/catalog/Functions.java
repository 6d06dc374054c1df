package colonnade.spark.catalog;

import java.util.Arrays;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;

/**
 * The partition transforms as functions of a catalog, such as {@code colonnade.system.days(time)}.
 */
final class Functions {
  private static final String[] NAMESPACE = {DatabaseCatalog.SYSTEM};

  private Functions() {}

  /** Lists the functions in a namespace. */
  static Identifier[] list(String[] namespace) {
    if (!Arrays.equals(namespace, NAMESPACE)) {
      return new Identifier[0];
    }
    return TransformFunction.names().stream()
        .map(name -> Identifier.of(namespace, name))
        .toArray(Identifier[]::new);
  }

  /**
   * Returns the function with this name, or null. Spark looks up a table's transforms without a
   * namespace.
   */
  static UnboundFunction find(Identifier identifier) {
    String[] namespace = identifier.namespace();
    boolean ours = namespace.length == 0 || Arrays.equals(namespace, NAMESPACE);
    return ours && TransformFunction.names().contains(identifier.name())
        ? TransformFunction.named(identifier.name())
        : null;
  }
}
