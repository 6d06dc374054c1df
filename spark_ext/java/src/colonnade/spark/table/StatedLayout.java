package colonnade.spark.table;

import colonnade.planner.messages.Clauses.OrderField;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.expressions.BucketTransform;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.SortedBucketTransform;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The layout that a statement or a DataFrame states. Its buckets may have an order: SORTED BY, and
 * {@code sortBy()}. Each RowSet is sorted by itself, so such a bucket stands beside a sort key.
 */
public final class StatedLayout {
  private StatedLayout() {}

  /** The columns that the rows of a bucket are sorted by; none for any other transform. */
  public static Stream<NamedReference> order(Transform transform) {
    return transform instanceof SortedBucketTransform sorted
        ? CollectionConverters.asJava(sorted.sortedColumns()).stream()
        : Stream.empty();
  }

  /** The transform without its order. */
  public static Transform withoutOrder(Transform transform) {
    return transform instanceof SortedBucketTransform sorted
        ? new BucketTransform(sorted.numBuckets(), sorted.columns())
        : transform;
  }

  /**
   * Whether a layout states these partitions, and the sort key of a table. Its columns may be in any case if the session finds them so.
   */
  public static boolean isMeant(Transform[] said, Transform[] partitions, List<OrderField> sortKey) {
    List<Transform> buckets = Arrays.stream(said).map(StatedLayout::withoutOrder).toList();
    List<NamedReference> order = Arrays.stream(said).flatMap(StatedLayout::order).toList();
    return areAlike(buckets, List.of(partitions))
        && (order.isEmpty() || areAlike(order, SortKey.of(sortKey, false).ascending()));
  }

  private static boolean areAlike(List<? extends Expression> said, List<? extends Expression> own) {
    Function2<String, String, Object> resolver = SQLConf.get().resolver();
    return said.size() == own.size()
        && IntStream.range(0, own.size())
            .allMatch(i -> (boolean) resolver.apply(said.get(i).describe(), own.get(i).describe()));
  }
}
