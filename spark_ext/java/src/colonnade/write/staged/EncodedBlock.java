package colonnade.write.staged;

import colonnade.format.BlockEntry;
import colonnade.format.Statistics;

/** A block and its stored bytes, which are null where the index alone says everything. */
public record EncodedBlock(BlockEntry entry, byte[] data) {
  /** A block without bytes. */
  static EncodedBlock empty(String encoding, int rows, long decoded, Statistics statistics) {
    return new EncodedBlock(
        new BlockEntry(rows, 0, decoded, 0, encoding, null, statistics), null);
  }
}
