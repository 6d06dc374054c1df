package colonnade.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Creates objects as files below a folder in the same way as the Python store: temporary file,
 * fsync, hard link, fsync of the folder. Spec: docs/spec/store.md#local-disk
 */
public final class LocalSink implements ByteSink {
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String url;
  private final Path root;

  /**
   * The folders whose entry in their parent folder is durable. Another process may have created
   * them.
   */
  private final Set<Path> synced = ConcurrentHashMap.newKeySet();

  public LocalSink(String path) {
    url = path;
    root = Path.of(path);
  }

  /** Returns the name of an object for error messages. */
  private String locate(String name) {
    return url + "/" + name;
  }

  @Override
  public boolean filesAreCheap() {
    return true;
  }

  @Override
  public ObjectOutput create(String name, boolean sync) throws IOException {
    Path path = path(name);
    try {
      makeFolder(path.getParent(), sync);
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw StoreException.exists(locate(name));
      }
      return new LocalOutput(locate(name), path, temporary(path), sync);
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "written", error);
    }
  }

  @Override
  public void closeAll(List<ObjectOutput> outputs) throws IOException {
    List<LocalOutput> files = outputs.stream().map(LocalOutput.class::cast).toList();
    SideBySide.run(files, LocalOutput::publish);
    Map<Path, LocalOutput> folders = new HashMap<>();
    files.forEach(each -> folders.put(each.folder(), each));
    for (LocalOutput each : folders.values()) {
      each.syncFolder();
    }
  }

  @Override
  public void delete(String name) throws IOException {
    try {
      Files.deleteIfExists(path(name));
    } catch (NotDirectoryException error) {
      return;
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "written", error);
    }
  }

  @Override
  public void removeFolder(String name) throws IOException {
    try {
      Files.delete(path(name));
    } catch (NoSuchFileException | NotDirectoryException | DirectoryNotEmptyException error) {
      return;
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "written", error);
    }
  }

  private Path path(String name) {
    ObjectNameCheck.check(name);
    return root.resolve(name);
  }

  private static Path temporary(Path path) {
    byte[] bits = new byte[8];
    RANDOM.nextBytes(bits);
    return path.resolveSibling(
        ".tmp-" + HexFormat.of().formatHex(bits) + "-" + path.getFileName());
  }

  /** Creates a folder and its missing parents. Refuses symbolic links below the root. */
  private void makeFolder(Path folder, boolean sync) throws IOException {
    if (synced.contains(folder)) {
      return;
    }
    if (folder.equals(root)) {
      makeRoot(root);
    } else {
      makeFolder(folder.getParent(), sync);
      makeOne(folder);
      if (sync) {
        sync(folder.getParent());
      }
    }
    if (sync) {
      synced.add(folder);
    }
  }

  private static void makeRoot(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      makeRoot(folder.getParent());
      makeOne(folder);
      sync(folder.getParent());
    }
  }

  private static void makeOne(Path folder) throws IOException {
    try {
      Files.createDirectory(folder);
    } catch (FileAlreadyExistsException error) {
      if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
        throw new NotDirectoryException(folder.toString());
      }
    }
  }

  /** Makes the entries of a folder durable. */
  static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
