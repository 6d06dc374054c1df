/**
 * What Spark does not tell a source about the statement that runs: its plan, who calls, and the
 * tables that it names.
 */
package colonnade.spark.quirks.statement;
