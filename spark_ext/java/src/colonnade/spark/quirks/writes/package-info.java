/**
 * Rows that a statement brings: columns that a table lacks, and values that the table gives itself.
 */
package colonnade.spark.quirks.writes;
