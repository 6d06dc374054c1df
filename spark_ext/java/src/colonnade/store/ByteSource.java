package colonnade.store;

import java.io.IOException;

/** Reads objects below one URL by name and range. Safe for concurrent use by several threads. */
public interface ByteSource {
  /** Returns the URL in the form that users know. */
  String url();

  /** Whether each read costs a round trip, so that concurrent reads are faster. */
  boolean isRemote();

  /** Returns the name of an object for error messages. */
  default String locate(String name) {
    return url() + "/" + name;
  }

  /**
   * Reads exactly {@code length} bytes of an object from {@code offset} on.
   *
   * @throws java.nio.file.NoSuchFileException when there is no such object
   * @throws IOException with a sentence that names the object, for a range beyond its end too
   */
  byte[] read(String name, long offset, int length) throws IOException;

  /**
   * Returns how many runs a process may hold open. Its other requests need connections, too.
   *
   * @throws IOException with a sentence, if the store cannot be opened
   */
  default int mostRuns() throws IOException {
    return Integer.MAX_VALUE;
  }

  /** Prepares to read a part of an object in order, up to {@code end}. Does no I/O. */
  default ByteRun run(String name, long end) {
    return (offset, length) -> read(name, offset, length);
  }

  /**
   * Drops what is kept near the reader of all objects that this source has read. A reader calls it
   * after a checksum has failed, so that the next read asks the store.
   */
  default void forget() {}
}
