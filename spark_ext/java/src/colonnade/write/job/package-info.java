/** What a task is told of its write: the table, the RowSets to write, and the values it may draw. */
package colonnade.write.job;
