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
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * New objects below one URL, written as the Python store writes them: temporary file, fsync, hard
 * link, fsync of the folder. Only local disk can be written to.
 *
 * <p>Safe for use by several threads. Spec: docs/spec/store.md#local-disk
 */
public final class ByteSink {
  private static final Pattern PROTOCOL = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)(?:://|::).*");
  private static final Pattern LOCAL = Pattern.compile("(?:file|local):(?://(?=/))?(.*)");
  private static final SecureRandom RANDOM = new SecureRandom();

  private final String url;
  private final Path root;

  /** Folders whose entry in their parent is durable: another process may have made them. */
  private final Set<Path> synced = ConcurrentHashMap.newKeySet();

  private ByteSink(String path) {
    url = path;
    root = Path.of(path);
  }

  /**
   * The store at {@code url}. Does no I/O.
   *
   * @throws org.apache.spark.sql.AnalysisException for a store that is read-only
   */
  public static ByteSink of(String url) {
    Matcher local = LOCAL.matcher(url);
    Matcher protocol = PROTOCOL.matcher(url);
    if (!local.matches() && protocol.matches()) {
      throw TaskFailure.of(
          "COLONNADE_INVALID_INPUT",
          "COLONNADE_INVALID_INPUT",
          url + " is read-only: Colonnade knows no atomic put-if-absent for the"
              + " protocol '" + protocol.group(1)
              + "', and without one a commit can be lost; write to a local path.");
    }
    return new ByteSink(local.matches() ? local.group(1) : url);
  }

  /** Names an object the way users see it in errors. */
  public String locate(String name) {
    return url + "/" + name;
  }

  /**
   * Begins a new object; durable once closed when {@code sync}.
   *
   * @throws IOException with a sentence that names the object, when there is one or for a fault
   */
  public ObjectOutput create(String name, boolean sync) throws IOException {
    Path path = path(name);
    try {
      makeFolder(path.getParent(), sync);
      if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
        throw StoreException.exists(locate(name));
      }
      return new ObjectOutput(locate(name), path, temporary(path), sync);
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "written", error);
    }
  }

  /**
   * Closes what {@code create} began, with many waits for the disk at once. Afterwards each object
   * is as its own {@code close} leaves it.
   *
   * @throws IOException as {@code close}: some of the objects may be there then
   */
  public void closeAll(List<ObjectOutput> outputs) throws IOException {
    SideBySide.run(outputs, ObjectOutput::publish);
    Map<Path, ObjectOutput> folders = new HashMap<>();
    outputs.forEach(each -> folders.put(each.folder(), each));
    for (ObjectOutput each : folders.values()) {
      each.syncFolder();
    }
  }

  /** Removes an object; fine when it is absent. */
  public void delete(String name) throws IOException {
    try {
      Files.deleteIfExists(path(name));
    } catch (NotDirectoryException error) {
      return;
    } catch (IOException error) {
      throw StoreException.failed(locate(name), "written", error);
    }
  }

  /** Removes a folder if it is there and empty. Requires: nobody will write into it. */
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
    Stream<String> parts = Arrays.stream(name.split("/", -1));
    if (parts.anyMatch(part -> part.isEmpty() || part.startsWith("."))) {
      throw new IllegalArgumentException(
          "[COLONNADE_INVALID_INPUT] '" + name
              + "' is no object name: it must be relative and stay inside the"
              + " database.");
    }
    return root.resolve(name);
  }

  private static Path temporary(Path path) {
    byte[] bits = new byte[8];
    RANDOM.nextBytes(bits);
    return path.resolveSibling(
        ".tmp-" + HexFormat.of().formatHex(bits) + "-" + path.getFileName());
  }

  /** Make a folder and those above it that are missing; none below the root may be a link. */
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

  /** Make the entries of a folder durable. */
  static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
