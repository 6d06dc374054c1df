/**
 * Everything that depends on classes which Spark does not promise to keep. Each class names the
 * Spark versions it was seen on.
 */
package colonnade.spark.quirks;
