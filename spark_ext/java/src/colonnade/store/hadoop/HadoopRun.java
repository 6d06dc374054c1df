package colonnade.store.hadoop;

import colonnade.store.ByteRun;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.io.IOUtils;

/** A part of an object of {@link HadoopSource} that is read in order. */
final class HadoopRun implements ByteRun {
  private final HadoopSource source;
  private final String name;
  private final long end;
  private FSDataInputStream stream;
  private boolean closed;

  /** Prepares for a run that ends at {@code end}. Does no I/O. */
  HadoopRun(HadoopSource source, String name, long end) {
    this.source = source;
    this.name = name;
    this.end = end;
  }

  @Override
  public byte[] read(long offset, int length) throws IOException {
    byte[] bytes = source.memory(name, offset, length);
    try {
      FSDataInputStream opened = stream();
      opened.seek(offset);
      opened.readFully(bytes);
      return bytes;
    } catch (IOException error) {
      // A server may have ended a connection that was idle. Else the new request has the sentence.
      IOUtils.closeStream(take());
      requireOpen();
      return source.read(name, offset, length);
    }
  }

  /** Returns the stream. A run that is closed meanwhile keeps none. */
  private FSDataInputStream stream() throws IOException {
    FSDataInputStream opened = take();
    if (opened == null) {
      opened = source.openRun(name, end);
    }
    if (!put(opened)) {
      IOUtils.closeStream(opened);
      requireOpen();
    }
    return opened;
  }

  private synchronized boolean put(FSDataInputStream opened) {
    stream = closed ? null : opened;
    return !closed;
  }

  private synchronized FSDataInputStream take() {
    FSDataInputStream taken = stream;
    stream = null;
    return taken;
  }

  private synchronized void requireOpen() throws IOException {
    if (closed) {
      throw new IOException("The reader of " + source.locate(name) + " was closed.");
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    IOUtils.closeStream(take());
  }
}
