import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.security.AccessControlException;

/** The local disk as {@code forbidden://}: it refuses every new file as HDFS refuses a user. */
public final class ForbiddenFileSystem extends RawLocalFileSystem {
  @Override
  public URI getUri() {
    return URI.create("forbidden:///");
  }

  @Override
  public String getScheme() {
    return "forbidden";
  }

  @Override
  @SuppressWarnings("rawtypes")
  public FSDataOutputStreamBuilder createFile(Path path) {
    return new FSDataOutputStreamBuilder(this, path) {
      @Override
      public FSDataOutputStreamBuilder getThisBuilder() {
        return this;
      }

      @Override
      public FSDataOutputStream build() throws IOException {
        throw new AccessControlException("Permission denied: user=canary, access=WRITE");
      }
    };
  }
}
