package colonnade.store.hadoop;

import colonnade.store.ByteRun;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.OpenFileOptions;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.util.functional.FutureIO;

/** Reads objects of any store that Hadoop has a file system for. */
final class HadoopSource implements ByteSource {
  /** Memory for a longer range is taken once the store has said that the object is so long. */
  private static final int SUSPICIOUS_BYTES = 64 << 20;

  private final HadoopFiles files;

  HadoopSource(String url, Map<String, String> hadoopConf) {
    files = new HadoopFiles(url, hadoopConf);
  }

  @Override
  public String url() {
    return files.url();
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    FileSystem system = files.system();
    Path path = files.path(name);
    byte[] bytes = memory(name, offset, length);
    String policy = OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_RANDOM;
    try (FSDataInputStream input = open(system, path, policy, offset + length)) {
      input.readFully(offset, bytes, 0, length);
    } catch (EOFException error) {
      throw StoreException.truncated(locate(name), files.size(name), offset, length);
    } catch (FileNotFoundException error) {
      throw new NoSuchFileException(locate(name));
    } catch (IOException error) {
      throw files.failed(name, "read", error);
    }
    return bytes;
  }

  /** Returns memory for a range of an object. A length that was forged must not use it up. */
  byte[] memory(String name, long offset, int length) throws IOException {
    if (length > SUSPICIOUS_BYTES) {
      long size = size(name);
      if (offset + length > size) {
        throw StoreException.truncated(locate(name), size, offset, length);
      }
    }
    return new byte[length];
  }

  private long size(String name) throws IOException {
    try {
      return files.system().getFileStatus(files.path(name)).getLen();
    } catch (FileNotFoundException error) {
      throw new NoSuchFileException(locate(name));
    } catch (IOException error) {
      throw files.failed(name, "read", error);
    }
  }

  /**
   * Returns half of the number of S3A's connections. A read waits while all connections are taken,
   * and then fails.
   */
  @Override
  public int mostRuns() throws IOException {
    int connections = files.system().getConf().getInt("fs.s3a.connection.maximum", 0);
    return connections > 0 ? connections / 2 : Integer.MAX_VALUE;
  }

  @Override
  public ByteRun run(String name, long end) {
    return new HadoopRun(this, name, end);
  }

  /** Opens an object for a run that ends at {@code end}. */
  FSDataInputStream openRun(String name, long end) throws IOException {
    String policy = OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY_SEQUENTIAL;
    return open(files.system(), files.path(name), policy, end);
  }

  /**
   * Opens an object for a read that ends at {@code end}.
   *
   * <p>S3A asks the server for the length of an object that it opens, and reads a new stream to the
   * object's end. If it is told that the object ends at the end of the range, it asks for no length
   * and reads no further.
   */
  private static FSDataInputStream open(FileSystem system, Path path, String policy, long end)
      throws IOException {
    return FutureIO.awaitFuture(
        system
            .openFile(path)
            .opt(OpenFileOptions.FS_OPTION_OPENFILE_READ_POLICY, policy)
            .opt(OpenFileOptions.FS_OPTION_OPENFILE_LENGTH, Long.toString(end))
            .build());
  }
}
