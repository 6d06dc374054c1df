package colonnade.rowset;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.HasPartitionKey;

/**
 * One task of a scan: {@code {"url": <database url>, "plan": <scan plan>}}, the plan as the
 * planner writes it. Its predicate serves to leave out blocks only: rows are not filtered by it.
 *
 * <p>Its key is that of a table that is partitioned by no column: all its rows have the same one.
 */
public record ScanTask(String json) implements HasPartitionKey {
  @Override
  public InternalRow partitionKey() {
    return InternalRow.empty();
  }
}
