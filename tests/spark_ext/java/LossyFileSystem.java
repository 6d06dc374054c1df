import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** The local disk as {@code lossy://}: of every file it keeps one byte too few. */
public final class LossyFileSystem extends RawLocalFileSystem {
  @Override
  public URI getUri() {
    return URI.create("lossy:///");
  }

  @Override
  public String getScheme() {
    return "lossy";
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    FileStatus found = super.getFileStatus(path);
    return found.isDirectory() ? found : new FileStatus(found.getLen() - 1, false, 1, 1, 0, path);
  }
}
