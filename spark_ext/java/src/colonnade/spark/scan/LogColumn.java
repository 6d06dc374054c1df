package colonnade.spark.scan;

import colonnade.planner.messages.Queries.ColumnSummary;
import colonnade.spark.table.BoundText;
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
record LogColumn(ColumnSummary known, DataType type) implements ColumnStatistics {

  @Override
  public Optional<Object> min() {
    return bound(known.min());
  }

  @Override
  public Optional<Object> max() {
    return bound(known.max());
  }

  @Override
  public OptionalLong nullCount() {
    return OptionalLong.of(known.nulls());
  }

  private Optional<Object> bound(String text) {
    // Spark's optimizer does not use the bounds of strings or binary.
    if (text == null || type instanceof StringType || type instanceof BinaryType) {
      return Optional.empty();
    }
    return Optional.of(BoundText.value(text, type));
  }
}
