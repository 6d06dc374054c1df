/**
 * The driver side of reading: what Spark asks about a table and a query, handed on to the planner.
 * No rule of the format lives here.
 */
package colonnade.source;
