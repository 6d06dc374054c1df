/**
 * The executor side of reading: a task of a scan in, columnar batches out. Where Spark generates no
 * code for columns, it gets rows, which are read from the batches. The blocks of a RowSet, columns
 * in memory, and the plan of a task have folders of their own.
 *
 * <pre>
 *   RowReader -> BatchRow
 *        |
 *   ScanTaskReader -> WindowReader -> RowSet -> RowSetSource -> CachedSource -> ByteSource
 *        |             (read ahead)      |
 *        |                               +--> Footer, OpenColumnSegment, SparseIndex,
 *        |                                    DeletionVector, Pruner, RowSetRegions, ColumnRuns
 *        +--> DataColumn -> BlockDecoder -> ArrowStream, BatchDecoder -> ColonnadeVector
 * </pre>
 *
 * Bytes are parsed only after their checksum was compared. A number that a stream states is used as
 * an address only after it was compared with the bytes that are there.
 *
 * <p>Specification: docs/spec/rowset.md, docs/spec/types.md, docs/spec/deletion-vector.md
 */
package colonnade.read;
