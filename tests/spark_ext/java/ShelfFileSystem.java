import java.net.URI;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** The local disk as {@code shelf://}: a store that only Hadoop reaches. */
public final class ShelfFileSystem extends RawLocalFileSystem {
  @Override
  public URI getUri() {
    return URI.create("shelf:///");
  }

  @Override
  public String getScheme() {
    return "shelf";
  }
}
