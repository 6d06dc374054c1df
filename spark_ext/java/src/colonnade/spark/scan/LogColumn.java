package colonnade.spark.scan;

import colonnade.spark.table.BoundText;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;

/**
 * Bounds and NULL counts of one column from the log. They are estimates, because bounds may be too
 * wide.
 */
record LogColumn(JsonNode known, DataType type) implements ColumnStatistics {

  @Override
  public Optional<Object> min() {
    return bound("min");
  }

  @Override
  public Optional<Object> max() {
    return bound("max");
  }

  @Override
  public OptionalLong nullCount() {
    return OptionalLong.of(known.get("nulls").asLong());
  }

  private Optional<Object> bound(String which) {
    // Spark's optimizer does not use the bounds of strings or binary.
    if (!known.hasNonNull(which) || type instanceof StringType || type instanceof BinaryType) {
      return Optional.empty();
    }
    return Optional.of(BoundText.value(known.get(which).asText(), type));
  }
}
