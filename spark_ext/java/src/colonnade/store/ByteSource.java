package colonnade.store;

import java.io.IOException;
import java.util.Map;

/** The objects below one URL, read by name and range. Safe for use by several threads. */
public interface ByteSource {
  /** A local folder is read directly, everything else through Hadoop's file systems. */
  static ByteSource of(String url, Map<String, String> hadoopConf) {
    String path = url.startsWith("file://") ? url.substring(7) : url;
    return path.startsWith("/") ? new LocalSource(path) : new HadoopSource(url, hadoopConf);
  }

  /** The URL as users know it. */
  String url();

  /** Whether a read costs a round trip, so that several are better made at once. */
  boolean isRemote();

  /** Names an object the way users see it in errors. */
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
}
