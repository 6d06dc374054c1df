/** The bytes of a RowSet that is being written: blocks, cuts, indexes, footer and origins. */
package colonnade.write.rowset;
