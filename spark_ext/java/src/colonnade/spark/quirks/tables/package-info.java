/**
 * Statements that make, alter and show tables: what Spark refuses before it asks the catalog, and
 * what it leaves out.
 */
package colonnade.spark.quirks.tables;
