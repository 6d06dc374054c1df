/**
 * Columns and rows in memory, as Spark reads them: bytes are used where they are, without a copy.
 * Batches of Arrow fill them.
 */
package colonnade.read.vector;
