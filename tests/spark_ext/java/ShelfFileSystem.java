import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** The local disk as {@code shelf://}: a store that only Hadoop reaches. */
public final class ShelfFileSystem extends RawLocalFileSystem {
  /** How often an object was opened. */
  static final AtomicInteger OPENED = new AtomicInteger();

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    OPENED.incrementAndGet();
    return super.open(path, bufferSize);
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
