package colonnade.read;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.HasPartitionKey;

/**
 * One task of a scan: {@code {"url": <database url>, "plan": <scan plan>}}, the plan as the
 * planner writes it. Its predicate serves to leave out blocks only: rows are not filtered by it.
 *
 * <p>All its rows have the {@code partitionKey}, an empty one where rows are together by no column.
 */
public record ScanTask(String json, InternalRow partitionKey) implements HasPartitionKey {}
