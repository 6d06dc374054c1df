package colonnade.read;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.HasPartitionKey;

/**
 * One task of a scan: {@code {"url": <database url>, "plan": <scan plan>, "cache": {"folder",
 * "bytes"}}}. The planner writes it. {@code cache} is absent if the store has no
 * cache. If the plan has an order, the reader merges the RowSets by it. The reader uses the plan's predicate only to skip blocks, and does not filter rows by it.
 *
 * <p>All rows of the task have the {@code partitionKey}. The key is empty if the scan does not
 * group rows by partition.
 */
public record ScanTask(String json, InternalRow partitionKey) implements HasPartitionKey {}
