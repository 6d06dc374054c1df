package colonnade.spark.scan;

import colonnade.planner.messages.Queries.ColumnSummary;
import colonnade.spark.table.ColumnName;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.Statistics;
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Statistics of the rows that a plan reads, before Spark filters them.
 *
 * @param rows how many rows it reads
 * @param bytes how many stored bytes it reads
 * @param columns what the log says of columns, by name
 * @param schema the columns that it returns
 */
public record LogStatistics(
    long rows, long bytes, Map<String, ColumnSummary> columns, StructType schema)
    implements Statistics {
  private static final long ROW_OVERHEAD = 8; // as Spark's own estimates have it
  private static final long MOST_COMPRESSED = 4;

  @Override
  public OptionalLong numRows() {
    return OptionalLong.of(rows);
  }

  /**
   * Returns the stored size, because Spark's threshold for broadcasts is meant for sizes of files.
   * The result has a lower limit, a fraction of the rows' size in memory, because a few stored
   * bytes may expand to any number of rows.
   */
  @Override
  public OptionalLong sizeInBytes() {
    double expanded = (double) rows * (schema.defaultSize() + ROW_OVERHEAD);
    return OptionalLong.of((long) Math.max(expanded / MOST_COMPRESSED, bytes));
  }

  @Override
  public Map<NamedReference, ColumnStatistics> columnStats() {
    Map<NamedReference, ColumnStatistics> found = new HashMap<>();
    for (StructField field : schema.fields()) {
      ColumnSummary known = columns.get(field.name());
      if (known != null) {
        found.put(ColumnName.reference(field.name()), new LogColumn(known, field.dataType()));
      }
    }
    return found;
  }
}
