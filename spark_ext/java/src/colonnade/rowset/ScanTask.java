package colonnade.rowset;

import org.apache.spark.sql.connector.read.InputPartition;

/**
 * One task of a scan: {@code {"url": <database url>, "plan": <scan plan>}}, the plan as the
 * planner writes it. Its predicate serves to leave out blocks only: rows are not filtered by it.
 */
public record ScanTask(String json) implements InputPartition {}
