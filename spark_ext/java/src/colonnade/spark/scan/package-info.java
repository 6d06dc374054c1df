/**
 * The driver side of reading: what a query asks of a table, handed on to the planner. No rule of
 * the format lives here.
 */
package colonnade.spark.scan;
