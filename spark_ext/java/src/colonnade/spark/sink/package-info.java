/** The driver side of writing: plans a write, hands it to tasks, and commits what they report. */
package colonnade.spark.sink;
