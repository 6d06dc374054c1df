package colonnade.write.staged;

import colonnade.format.rowset.BlockEntry;
import colonnade.format.rowset.Statistics;

/** A block and its stored bytes. The bytes are null if the index alone describes the block. */
public record EncodedBlock(BlockEntry entry, byte[] data) {
  /** Creates a block without bytes. */
  static EncodedBlock empty(String encoding, int rows, long decoded, Statistics statistics) {
    return new EncodedBlock(
        new BlockEntry(rows, 0, decoded, 0, encoding, null, statistics), null);
  }
}
