package colonnade.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * A new file that is being written under a temporary name. Spec: docs/spec/store.md#local-disk
 */
final class LocalOutput implements ObjectOutput {
  /** Limits the native buffer that the JDK allocates for each write and keeps for each thread. */
  private static final int STEP_BYTES = 1 << 18;

  private static final Set<String> NO_LINK_REASONS =
      Set.of("Operation not permitted", "Operation not supported", "Function not implemented");

  private final String location;
  private final Path path;
  private final Path temporary;
  private final boolean sync;
  private final FileChannel channel;

  LocalOutput(String location, Path path, Path temporary, boolean sync) throws IOException {
    this.location = location;
    this.path = path;
    this.temporary = temporary;
    this.sync = sync;
    this.channel =
        FileChannel.open(
            temporary,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE_NEW,
            LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void write(byte[] data) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(data);
    try {
      while (buffer.position() < data.length) {
        buffer.limit(Math.min(data.length, buffer.position() + STEP_BYTES));
        channel.write(buffer);
      }
    } catch (IOException error) {
      abort();
      throw StoreException.failed(location, "written", error);
    }
  }

  @Override
  public void close() throws IOException {
    if (channel.isOpen()) {
      publish();
      syncFolder();
    }
  }

  /** Makes the file visible. Its name is durable only after {@link #syncFolder}. */
  void publish() throws IOException {
    if (!channel.isOpen()) {
      return;
    }
    try {
      if (sync) {
        channel.force(true);
      }
      link();
      Files.delete(temporary);
    } catch (FileAlreadyExistsException error) {
      throw StoreException.exists(location);
    } catch (IOException error) {
      throw StoreException.failed(location, "written", error);
    } finally {
      abort();
    }
  }

  private void link() throws IOException {
    try {
      Files.createLink(path, temporary);
    } catch (UnsupportedOperationException error) {
      throw new IOException(StoreException.NO_LINKS, error);
    } catch (FileAlreadyExistsException error) {
      throw error;
    } catch (FileSystemException error) {
      boolean isKnown = NO_LINK_REASONS.contains(String.valueOf(error.getReason()));
      throw isKnown ? new IOException(StoreException.NO_LINKS, error) : error;
    }
  }

  Path folder() {
    return path.getParent();
  }

  /** Makes the names of all files in its folder durable. */
  void syncFolder() throws IOException {
    if (sync) {
      try {
        LocalSink.sync(folder());
      } catch (IOException error) {
        throw StoreException.failed(location, "written", error);
      }
    }
  }

  @Override
  public void abort() {
    try {
      channel.close();
      Files.deleteIfExists(temporary);
    } catch (IOException error) {
      // Vacuum deletes the temporary file that stays behind.
      return;
    }
  }
}
