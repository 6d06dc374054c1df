import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** The local disk as {@code shelf://}: a store that only Hadoop reaches. */
public final class ShelfFileSystem extends RawLocalFileSystem {
  /** How often an object was opened. */
  static final AtomicInteger OPENED = new AtomicInteger();

  /** How many bytes were read of each object. */
  static final Map<String, Long> READ = new ConcurrentHashMap<>();

  /** How many objects are open. */
  static final AtomicInteger OPEN = new AtomicInteger();

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    OPENED.incrementAndGet();
    try {
      Thread.sleep(getConf().getLong("shelf.open.millis", 0));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    FSDataInputStream found = super.open(path, bufferSize);
    OPEN.incrementAndGet();
    AtomicBoolean closed = new AtomicBoolean();
    return new FSDataInputStream(found.getWrappedStream()) {
      @Override
      public void readFully(long position, byte[] bytes, int offset, int length)
          throws IOException {
        READ.merge(path.getName(), (long) length, Long::sum);
        super.readFully(position, bytes, offset, length);
      }

      @Override
      public void close() throws IOException {
        if (!closed.getAndSet(true)) {
          OPEN.decrementAndGet();
        }
        super.close();
      }
    };
  }

  @Override
  public URI getUri() {
    return URI.create("shelf:///");
  }

  @Override
  public String getScheme() {
    return "shelf";
  }
}
