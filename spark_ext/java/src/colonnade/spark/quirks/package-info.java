/**
 * Everything that depends on classes which Spark does not promise to keep, in packages by what it
 * mends. Each class names the Spark versions it was seen on.
 *
 * <p>Decisions: docs/decisions/spark-jar.md
 */
package colonnade.spark.quirks;
