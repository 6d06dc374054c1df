package colonnade.write;

import java.util.Set;

/**
 * How RowSets are cut, sized and placed; readers understand every choice.
 *
 * <p>{@code targetBytes} is the stored size at which a RowSet ends, {@code maxRecords} the most
 * rows that it gets; {@code blockRows} is the distance of cuts, {@code cutBytes} the staged size at
 * which wide rows are cut earlier, and {@code heldBytes} what the open writers of several partitions
 * may hold; {@code blockBytes} bounds a decoded block of more than one row. RowSets of at most {@code inlineBytes} live in the log, those of at most {@code packedBytes} in
 * one object, and of more columns as much for every 64 of them, since each file costs a wait for the
 * disk. {@code indexedColumns} are the ids whose statistics the log keeps, {@code
 * bloomColumns} those whose blocks get Bloom filters.
 */
record WriteOptions(
    long targetBytes,
    long maxRecords,
    int blockRows,
    long cutBytes,
    long heldBytes,
    long blockBytes,
    long packedBytes,
    long inlineBytes,
    boolean sync,
    Set<Integer> indexedColumns,
    Set<Integer> bloomColumns) {
  private static final long MIB = 1 << 20;
  private static final int PACKED_COLUMNS = 64;

  /** The choices of every write but those that its settings make. */
  static WriteOptions of(
      long targetBytes,
      long maxRecords,
      boolean sync,
      Set<Integer> indexedColumns,
      Set<Integer> bloomColumns) {
    return new WriteOptions(
        targetBytes,
        maxRecords,
        65_536,
        32 * MIB,
        128 * MIB,
        8 * MIB,
        4 * MIB,
        16 << 10,
        sync,
        indexedColumns,
        bloomColumns);
  }

  /** The most stored bytes of a RowSet of so many columns that is one object. */
  long packedLimit(int columns) {
    return packedBytes * Math.max(1, columns / PACKED_COLUMNS);
  }
}
