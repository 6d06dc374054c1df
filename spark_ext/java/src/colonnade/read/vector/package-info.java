/** Columns and rows in memory, as Spark reads them: bytes are used where they are, without a copy. */
package colonnade.read.vector;
