/**
 * The executor side of reading: a task of a scan in, columnar batches out; or rows, which are read
 * from batches, where Spark generates no code for columns.
 *
 * <pre>
 *   RowReader -> BatchRow
 *        |
 *   ScanTaskReader -> WindowReader -> RowSet -> RowSetSource -> ByteSource
 *        |             (read ahead)      |
 *        |                               +--> Footer, Segment, SparseIndex, DeletionVector, Pruner
 *        +--> DataColumn -> BlockDecoder -> ArrowStream, BatchDecoder -> ColonnadeVector
 * </pre>
 *
 * Nothing is parsed before its checksum was compared, and nothing that a stream states about itself
 * is used as an address before it was compared with what is there.
 *
 * <p>Specification: docs/spec/rowset.md, docs/spec/types.md, docs/spec/deletion-vector.md
 */
package colonnade.read;
