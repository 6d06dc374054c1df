/**
 * What is stored of a RowSet beside its blocks: entries, footers, indexes, statistics, Bloom filters
 * and deletion vectors.
 *
 * <p>Specification: docs/spec/rowset.md
 */
package colonnade.format.rowset;
