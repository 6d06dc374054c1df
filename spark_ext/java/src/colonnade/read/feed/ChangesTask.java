package colonnade.read.feed;

import org.apache.spark.sql.connector.read.InputPartition;

/**
 * One task of a change feed: {@code {"parts": [part, ...]}}. The planner writes it. A part is either
 * {@code {"rows": task}}, rows that were inserted or deleted, or updated rows:
 *
 * <pre>
 *   {"before": task, "after": task, "compared": [column, ...], "order": base64 of int32}
 * </pre>
 *
 * Each of these is a task of a scan, and says in {@code "change"} what its rows are. {@code before}
 * and {@code after} have equally many rows. Row k of {@code before} is the row before row {@code
 * order[k]} of {@code after}; without an order, before row k. The update is left out if all {@code
 * compared} columns have the same values before and after it.
 */
public record ChangesTask(String json) implements InputPartition {}
