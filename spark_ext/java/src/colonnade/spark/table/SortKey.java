package colonnade.spark.table;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.connector.expressions.ClusterByTransform;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The sort key of a table as Spark shows it: as CLUSTER BY, or as the property {@code sortKey}.
 * CLUSTER BY cannot state a descending column, and Spark refuses it for a partitioned table. Either
 * form creates the same key again.
 */
record SortKey(List<JsonNode> fields, boolean clusters) {
  private static final String PROPERTY = "sortKey";

  /**
   * The sort key of a table that the planner has loaded; {@code alone} if CLUSTER BY can say it.
   */
  static SortKey of(JsonNode loaded, boolean alone) {
    List<JsonNode> fields =
        StreamSupport.stream(loaded.get("sort_key").spliterator(), false).toList();
    return new SortKey(fields, alone && fields.stream().noneMatch(SortKey::descends));
  }

  private static boolean descends(JsonNode field) {
    return field.get("descending").asBoolean();
  }

  private static String column(JsonNode field) {
    return field.get("column").asText();
  }

  Transform[] partitioning() {
    if (fields.isEmpty() || !clusters) {
      return new Transform[0];
    }
    return new Transform[] {
      new ClusterByTransform(CollectionConverters.asScala(ascending()).toSeq())
    };
  }

  /** The columns; none if one of them descends. */
  List<NamedReference> ascending() {
    return fields.stream().anyMatch(SortKey::descends)
        ? List.of()
        : fields.stream().map(field -> ColumnName.reference(column(field))).toList();
  }

  Map<String, String> properties() {
    if (fields.isEmpty() || clusters) {
      return Map.of();
    }
    return Map.of(
        PROPERTY,
        fields.stream()
            .map(field -> column(field) + (descends(field) ? " desc" : ""))
            .collect(Collectors.joining(", ")));
  }
}
