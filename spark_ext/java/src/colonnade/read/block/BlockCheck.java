package colonnade.read.block;

import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.rowset.BlockEntry;

/**
 * Applies a reader's structural checks to a block that is about to be written. A writer can so
 * avoid storing a block that readers would refuse.
 */
public final class BlockCheck {
  private BlockCheck() {}

  /**
   * Returns the reason why a reader would refuse the structure of a block, or null if it would not.
   *
   * <p>Checks the messages of the stream but does not decode its buffers.
   */
  public static String problem(byte[] stream, String encoding, long rows, long decoded) {
    BlockEntry entry =
        new BlockEntry(rows, stream.length, decoded, 0, encoding, null, null, 0, 0);
    try {
      BlockDecoder.parse(entry, Slice.of(stream));
      return null;
    } catch (Malformed error) {
      return error.getMessage();
    }
  }
}
