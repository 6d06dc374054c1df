package colonnade.spark.table;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.messages.Clauses.OrderField;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.expressions.ClusterByTransform;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * The sort key of a table as Spark shows it: as CLUSTER BY, or as the property {@code sortKey}.
 * CLUSTER BY cannot state a descending column, and Spark refuses it for a partitioned table. Either
 * form creates the same key again.
 */
record SortKey(List<OrderField> fields, boolean clusters) {
  private static final String PROPERTY = "sortKey";

  /**
   * The sort key of a table that the planner has loaded; {@code alone} if CLUSTER BY can say it.
   */
  static SortKey of(List<OrderField> fields, boolean alone) {
    return new SortKey(fields, alone && fields.stream().noneMatch(OrderField::descending));
  }

  Transform[] partitioning() {
    if (fields.isEmpty() || !clusters) {
      return new Transform[0];
    }
    return new Transform[] {
      new ClusterByTransform(seq(ascending()))
    };
  }

  /** The columns; none if one of them descends. */
  List<NamedReference> ascending() {
    return fields.stream().anyMatch(OrderField::descending)
        ? List.of()
        : fields.stream().map(field -> ColumnName.reference(field.column())).toList();
  }

  Map<String, String> properties() {
    if (fields.isEmpty() || clusters) {
      return Map.of();
    }
    return Map.of(
        PROPERTY,
        fields.stream()
            .map(field -> field.column() + (field.descending() ? " desc" : ""))
            .collect(Collectors.joining(", ")));
  }
}
