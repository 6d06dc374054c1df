package colonnade.store.hadoop;

import colonnade.store.ObjectOutput;
import java.io.IOException;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.StreamCapabilities;

/** A new object that is streamed through Hadoop. Spec: docs/spec/store.md#buckets */
final class HadoopOutput implements ObjectOutput {
  private final HadoopSink sink;
  private final String name;
  private final FSDataOutputStream stream;
  private final boolean sync;
  private long written;
  private boolean closing;
  private boolean ended;

  HadoopOutput(HadoopSink sink, String name, FSDataOutputStream stream, boolean sync) {
    this.sink = sink;
    this.name = name;
    this.stream = stream;
    this.sync = sync;
  }

  @Override
  public void write(byte[] data) throws IOException {
    try {
      stream.write(data);
      written += data.length;
    } catch (IOException | RuntimeException error) {
      abort();
      throw sink.failed(name, error);
    }
  }

  @Override
  public void close() throws IOException {
    if (ended) {
      return;
    }
    closing = true;
    try {
      if (sync && stream.hasCapability(StreamCapabilities.HSYNC)) {
        stream.hsync();
      }
      stream.close();
      requireWhole();
      ended = true;
    } catch (IOException | RuntimeException error) {
      abort();
      throw sink.failed(name, error);
    }
  }

  /** Compares the object with what was written, because only a few clients do so themselves. */
  private void requireWhole() throws IOException {
    long found = sink.size(name);
    if (found != written) {
      throw new IOException(
          "the store has " + found + " bytes of it, and " + written + " were written");
    }
  }

  @Override
  public void abort() {
    if (ended) {
      return;
    }
    ended = true;
    boolean abortable = stream.hasCapability(StreamCapabilities.ABORTABLE_STREAM);
    quietly(abortable ? stream::abort : stream::close);
    if (closing || !abortable) {
      quietly(() -> sink.delete(name));
    }
  }

  /** One step of giving up. */
  private interface Cleanup {
    void run() throws IOException;
  }

  private static void quietly(Cleanup step) {
    try {
      step.run();
    } catch (IOException | RuntimeException error) {
      // The first error matters more. No epoch names the object, so vacuum removes its remains.
      return;
    }
  }
}
