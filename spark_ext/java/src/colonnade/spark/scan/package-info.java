/**
 * The driver side of reading. It passes what a query asks of a table on to the planner. No rule of
 * the format is implemented here.
 */
package colonnade.spark.scan;
