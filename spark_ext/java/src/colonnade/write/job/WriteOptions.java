package colonnade.write.job;

import java.util.Set;

/**
 * The sizes and places of RowSets and the distances of their cuts, as Python has decided. Readers
 * understand every choice.
 *
 * @param targetBytes the stored size at which a RowSet ends
 * @param maxRecords the most rows of a RowSet
 * @param blockRows the distance between cuts in rows
 * @param cutBytes the staged size at which wide rows are cut earlier
 * @param heldBytes the most bytes that the open writers of several partitions may hold
 * @param openPartitions the most partitions whose RowSets a task writes at the same time
 * @param openFiles the most files that the RowSets of a task keep open; a RowSet of more columns
 *     waits on local disk
 * @param blockBytes the most bytes of a decoded block of more than one row
 * @param packedBytes the most stored bytes that wait in memory for the end of their RowSet
 * @param oneObject whether a larger RowSet is one object or a directory; null leaves that to the
 *     store
 * @param inlineBytes the most stored bytes of a RowSet that is stored in the log
 * @param sync whether objects must be synced to disk before the commit
 * @param indexedColumns the ids of the columns whose statistics the log keeps
 * @param bloomColumns the ids of the columns whose blocks get Bloom filters
 */
public record WriteOptions(
    long targetBytes,
    long maxRecords,
    int blockRows,
    long cutBytes,
    long heldBytes,
    int openPartitions,
    int openFiles,
    long blockBytes,
    long packedBytes,
    Boolean oneObject,
    long inlineBytes,
    boolean sync,
    Set<Integer> indexedColumns,
    Set<Integer> bloomColumns) {}
