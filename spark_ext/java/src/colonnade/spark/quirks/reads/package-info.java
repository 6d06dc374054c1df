/**
 * Reads of tables: options that Spark does not pass on, answers of the log, and cached queries.
 */
package colonnade.spark.quirks.reads;
