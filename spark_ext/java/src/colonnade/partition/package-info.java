/**
 * Partition transforms: the same for tasks that write, and as functions that Spark calls to bring
 * rows of a partition together. Specification: docs/spec/partitions.md
 */
package colonnade.partition;
