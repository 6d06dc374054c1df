/** A table at one epoch as Spark sees it: columns, properties, partitioning and expressions. */
package colonnade.spark.table;
