package colonnade.read;

import colonnade.format.BlockEntry;
import colonnade.format.Malformed;
import colonnade.format.Slice;

/** What a reader compares before it decodes a block, for writers: none stores what it refuses. */
public final class BlockCheck {
  private BlockCheck() {}

  /**
   * Why a reader would refuse the structure of a block; null where it would not.
   *
   * <p>Reads the messages of the stream and none of its buffers.
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
