package colonnade.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/** Reads objects as files below a folder. */
public final class LocalSource implements ByteSource {
  /** Limits the native buffer that the JDK allocates for each read and keeps for each thread. */
  private static final int STEP_BYTES = 1 << 18;

  private final String root;

  public LocalSource(String root) {
    this.root = root;
  }

  @Override
  public String url() {
    return root;
  }

  @Override
  public boolean isRemote() {
    return false;
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    Path path = Path.of(root, name);
    try {
      BasicFileAttributes found =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!found.isRegularFile()) {
        // Opening a named pipe would hang.
        throw new FileSystemException(
            path.toString(),
            null,
            found.isSymbolicLink()
                ? "it is a symbolic link, and a database has none"
                : "it is not a file");
      }
      if (offset + length > found.size()) {
        throw StoreException.truncated(locate(name), found.size(), offset, length);
      }
      return read(path, name, offset, length);
    } catch (NoSuchFileException | NotDirectoryException error) {
      throw new NoSuchFileException(locate(name));
    } catch (FileSystemException error) {
      throw StoreException.failed(locate(name), "read", error);
    }
  }

  private byte[] read(Path path, String name, long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      while (buffer.position() < length) {
        buffer.limit(Math.min(length, buffer.position() + STEP_BYTES));
        if (channel.read(buffer, offset + buffer.position()) < 0) {
          throw StoreException.truncated(
              locate(name), offset + buffer.position(), offset, length);
        }
      }
    }
    return bytes;
  }
}
