/**
 * The executor side of writing: Spark's rows in, RowSets and their entries out.
 *
 * <p>Rows are staged column by column in primitive arrays up to the next cut, encoded as blocks
 * and forgotten:
 *
 * <pre>
 *   TaskWriter -> RowSetWriter -> staged.Staged (one a column) -> staged.BlockEncoder
 *                      |                                               |
 *                      +--> rowset.RowSetOutput: blocks, indexes, footer, entry <+
 * </pre>
 *
 * Specification: docs/spec/rowset.md, docs/spec/types.md
 */
package colonnade.write;
