/**
 * What a session of Spark has: its catalog, its parser, and switches of the rules that it has been
 * given.
 */
package colonnade.spark.quirks.session;
