package colonnade.store;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;

/** Reads objects of any store that Hadoop has a file system for. */
final class HadoopSource implements ByteSource {
  private final String url;
  private final String address;
  private final Configuration conf = new Configuration(false);

  HadoopSource(String url, Map<String, String> hadoopConf) {
    this.url = url;
    hadoopConf.forEach(conf::set);
    // Python uses the scheme s3, while Hadoop has the same store as s3a.
    boolean renamed = url.startsWith("s3://") && conf.get("fs.s3.impl") == null;
    this.address = renamed ? "s3a" + url.substring(2) : url;
  }

  @Override
  public String url() {
    return url;
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    Path path = new Path(address + "/" + name);
    byte[] bytes = new byte[length];
    try (FSDataInputStream input = path.getFileSystem(conf).open(path)) {
      input.readFully(offset, bytes, 0, length);
    } catch (EOFException error) {
      long size = path.getFileSystem(conf).getFileStatus(path).getLen();
      throw StoreException.truncated(locate(name), size, offset, length);
    } catch (FileNotFoundException error) {
      throw new NoSuchFileException(locate(name));
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "read", error);
    }
    return bytes;
  }
}
