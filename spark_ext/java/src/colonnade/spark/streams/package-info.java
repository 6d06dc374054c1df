/**
 * A table as a stream of Spark reads it. Where a trigger ends, and what it reads, the planner
 * decides.
 */
package colonnade.spark.streams;
