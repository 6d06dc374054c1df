/** Statements that Spark's own parser does not know, in the words of Delta Lake. */
package colonnade.spark.words;
