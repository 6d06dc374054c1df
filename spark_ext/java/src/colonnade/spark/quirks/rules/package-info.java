/**
 * The list of all rules for Spark, and how a session gets them.
 */
package colonnade.spark.quirks.rules;
