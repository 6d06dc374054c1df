/**
 * DELETE, UPDATE and MERGE: the columns that they set, how their rows meet those of the table, and
 * their words for the history.
 */
package colonnade.spark.quirks.changes;
