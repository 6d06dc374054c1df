/** The rows of one column from the row that arrives to the encoded block. */
package colonnade.write.staged;
