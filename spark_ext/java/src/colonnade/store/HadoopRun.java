package colonnade.store;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.io.IOUtils;

/** A part of an object of {@link HadoopSource} that is read in order. */
final class HadoopRun implements ByteRun {
  private final HadoopSource source;
  private final String name;
  private final long end;
  private FSDataInputStream stream;

  /** Prepares for a run that ends at {@code end}. Does no I/O. */
  HadoopRun(HadoopSource source, String name, long end) {
    this.source = source;
    this.name = name;
    this.end = end;
  }

  @Override
  public byte[] read(long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    try {
      if (stream == null) {
        stream = source.openRun(name, end);
      }
      stream.seek(offset);
      stream.readFully(bytes);
      return bytes;
    } catch (IOException error) {
      // A server may have ended a connection that was idle. Else the new request has the sentence.
      close();
      return source.read(name, offset, length);
    }
  }

  @Override
  public void close() {
    IOUtils.closeStream(stream);
    stream = null;
  }
}
