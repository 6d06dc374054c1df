package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.BlockEntry;

/**
 * One encoding of blocks: what its bytes are, and how rows are restored from them. Both methods are
 * called once for each block, and never for each value.
 */
abstract class Encoding {
  /** The name of the encoding in the index. */
  final String name;

  Encoding(String name) {
    this.name = name;
  }

  /** Whether a block has bytes. The index alone describes all other blocks. */
  boolean isStored() {
    return true;
  }

  /** Returns the rows that the stream of a block has. */
  long streamRows(BlockEntry entry) {
    return entry.rows();
  }

  /**
   * Fills the vector of a block. Returns false if the stream does not have the type that the
   * encoding needs.
   */
  abstract boolean decode(Block block) throws Malformed;

  /**
   * Adds rows to the batch of a stream, which is empty. Returns null where the encoding does not
   * apply, or does not gain. An encoding that only readers know always returns null.
   */
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    return null;
  }
}
