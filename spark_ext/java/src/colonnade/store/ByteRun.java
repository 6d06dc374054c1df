package colonnade.store;

import java.io.IOException;

/**
 * A part of an object that is read in order, in one request where the store can. One thread at a
 * time may read; any thread may close it.
 */
public interface ByteRun {
  /**
   * Reads exactly {@code length} bytes from {@code offset} on. Throws as {@link ByteSource#read}.
   * Requires: the bytes come after those of the last read, and before the end of the run.
   */
  byte[] read(long offset, int length) throws IOException;

  /** Ends the request, and fails a read that is under way. Bytes that were not read stay there. */
  default void close() {}
}
