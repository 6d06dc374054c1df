package colonnade.store.cache;

import colonnade.store.OwnFiles;
import colonnade.store.cache.Piece.Range;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps pieces in files of a folder, up to about {@code limit} bytes; the ones used last stay.
 *
 * <p>Safe for concurrent use by several threads, and by processes of both languages. The folder may
 * pass the limit by a sixteenth for each process that writes to it. No method throws for a disk that
 * fails, or for a folder that other users can change: it logs one warning a minute, and the store is
 * asked instead. A file with a wrong length or
 * checksum counts as absent. Guide: docs/cache.md#the-folder
 */
final class FolderPieces {
  private static final Logger LOG = LoggerFactory.getLogger(FolderPieces.class);
  private static final String VERSION = "pieces-1";
  private static final byte[] MAGIC = {'C', 'L', 'N', 'P'};
  private static final int HEADER_BYTES = MAGIC.length + 4;
  private static final Pattern NAME = Pattern.compile("([0-9]{1,18})-([0-9]{1,18})");
  private static final String UNFINISHED = ".tmp-";

  /** A use within this time of the last one does not change the date of a file. */
  private static final long TOUCH_MILLIS = 60_000;

  /** After a failed write, for how long nothing is written. */
  private static final long PAUSE_NANOS = 60_000_000_000L;

  /** The age after which an unfinished file counts as left by a killed process. */
  private static final long UNFINISHED_MILLIS = 3_600_000;

  private static final FileAttribute<Set<PosixFilePermission>> FOLDER_MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * One thread of this process at a time looks at a whole folder. A process drops its POSIX lock of a
   * file when any of its threads closes the file.
   */
  private static final ReentrantLock EVICTING = new ReentrantLock();

  private final Path place;
  private final Path root;
  private final long limit;
  private long unchecked;
  private volatile long resume = System.nanoTime();

  /** One file of the folder, and when it was used. */
  private record CachedFile(long usedMillis, Path path, long size) {}

  FolderPieces(String folder, long limit) {
    this.place = Path.of(folder);
    this.root = place.resolve(VERSION);
    this.limit = limit;
    this.unchecked = limit; // The first write looks at the whole folder.
  }

  /** Returns the sound pieces of an object that meet a range. */
  List<Piece> find(String key, Range range) {
    List<Piece> found = new ArrayList<>();
    Path folder = folder(key);
    String[] names = isOwn() ? folder.toFile().list() : null;
    for (String name : names == null ? new String[0] : names) {
      Matcher match = NAME.matcher(name);
      if (match.matches()) {
        long start = Long.parseLong(match.group(1));
        long end = Long.parseLong(match.group(2));
        boolean piece = start < end && end - start <= Piece.MOST_BYTES;
        if (piece && start < range.end() && range.start() < end) {
          byte[] data = load(folder.resolve(name), (int) (end - start));
          if (data != null) {
            found.add(new Piece(start, data));
          }
        }
      }
    }
    return found;
  }

  /** Writes a piece, and removes the oldest ones if the folder has become too large. */
  void keep(String key, Piece piece) {
    int size = piece.data().length + HEADER_BYTES;
    if (4L * size > limit || System.nanoTime() - resume < 0) {
      return;
    }
    try {
      for (Path own : List.of(place, root)) {
        Files.createDirectories(own, FOLDER_MODE);
        OwnFiles.requireOwnFolder(own);
      }
      Path folder = folder(key);
      Files.createDirectories(folder, FOLDER_MODE);
      write(folder, piece);
      if (isDue(size) && EVICTING.tryLock()) {
        try {
          evict();
        } finally {
          EVICTING.unlock();
        }
      }
    } catch (NoSuchFileException | ClosedByInterruptException error) {
      // Another process has removed the folder because it was empty, or the task was cancelled.
      return;
    } catch (IOException error) {
      pause(error);
    }
  }

  /** Stops writing for a while. Of threads that fail at once, only the first one warns. */
  private synchronized void pause(IOException error) {
    if (System.nanoTime() - resume < 0) {
      return;
    }
    resume = System.nanoTime() + PAUSE_NANOS;
    LOG.warn(
        "The cache in {} cannot be used ({}); objects are read from their store.",
        place,
        reason(error));
  }

  /** Removes all pieces of an object. */
  void forget(String key) {
    File[] files = isOwn() ? folder(key).toFile().listFiles() : null;
    for (File file : files == null ? new File[0] : files) {
      file.delete();
    }
  }

  /** Returns whether the folder is there, and no other user can change it. Warns if one can. */
  private boolean isOwn() {
    try {
      OwnFiles.requireOwnFolder(place);
      OwnFiles.requireOwnFolder(root);
      return true;
    } catch (NoSuchFileException error) {
      return false;
    } catch (IOException error) {
      pause(error);
      return false;
    }
  }

  private Path folder(String key) {
    return root.resolve(key.substring(0, 2)).resolve(key.substring(2));
  }

  private static void write(Path folder, Piece piece) throws IOException {
    byte[] digits = new byte[8];
    RANDOM.nextBytes(digits);
    Path path = folder.resolve(UNFINISHED + HexFormat.of().formatHex(digits));
    try {
      try (FileChannel channel =
          OwnFiles.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
        for (ByteBuffer part : List.of(header(piece.data()), ByteBuffer.wrap(piece.data()))) {
          while (part.hasRemaining()) {
            channel.write(part);
          }
        }
      }
      Path target = folder.resolve(piece.start() + "-" + piece.end());
      Files.move(path, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException error) {
      path.toFile().delete();
      throw error;
    }
  }

  /** Returns the bytes of a piece, or null if its file is absent or not sound. */
  private static byte[] load(Path path, int length) {
    File file = path.toFile();
    byte[] data;
    try (FileChannel channel = OwnFiles.open(path, StandardOpenOption.READ)) {
      boolean whole = channel.size() == length + HEADER_BYTES;
      data =
          whole
              ? Channels.newInputStream(channel).readNBytes(length + HEADER_BYTES + 1)
              : new byte[0];
    } catch (NoSuchFileException | ClosedByInterruptException error) {
      return null; // Another process has removed it, or the task was cancelled.
    } catch (IOException error) {
      data = new byte[0];
    }
    byte[] body = Arrays.copyOfRange(data, Math.min(data.length, HEADER_BYTES), data.length);
    if (data.length != length + HEADER_BYTES
        || !ByteBuffer.wrap(data, 0, HEADER_BYTES).equals(header(body))) {
      file.delete();
      return null;
    }
    long now = System.currentTimeMillis();
    if (now - file.lastModified() > TOUCH_MILLIS) {
      // A folder that this process may only read keeps the older date.
      file.setLastModified(now);
    }
    return body;
  }

  private static ByteBuffer header(byte[] data) {
    CRC32 crc = new CRC32();
    crc.update(data);
    return ByteBuffer.allocate(HEADER_BYTES).put(MAGIC).putInt((int) crc.getValue()).flip();
  }

  /** Counts a write. Returns whether the bytes since the last look make another look due. */
  private synchronized boolean isDue(int size) {
    unchecked += size;
    boolean due = unchecked >= limit / 16;
    unchecked = due ? 0 : unchecked;
    return due;
  }

  /** Removes the files used least recently until nine tenths of the limit are left. */
  private void evict() throws IOException {
    // One process at a time looks at the whole folder.
    try (FileChannel channel =
            OwnFiles.open(
                root.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.tryLock()) {
      if (lock == null) {
        return;
      }
      List<CachedFile> files = files();
      long left = files.stream().mapToLong(CachedFile::size).sum();
      if (left <= limit) {
        return;
      }
      files.sort(Comparator.comparingLong(CachedFile::usedMillis));
      for (CachedFile file : files) {
        if (left <= limit / 10 * 9) {
          break;
        }
        file.path().toFile().delete();
        file.path().getParent().toFile().delete(); // It stays if it is not empty.
        left -= file.size();
      }
    } catch (OverlappingFileLockException error) {
      return; // Another class loader of this process has this class, too.
    }
  }

  /** Returns all pieces, and removes unfinished files of killed processes. */
  private List<CachedFile> files() throws IOException {
    long old = System.currentTimeMillis() - UNFINISHED_MILLIS;
    List<CachedFile> found = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path path, BasicFileAttributes attributes) {
            String name = path.getFileName().toString();
            long used = attributes.lastModifiedTime().toMillis();
            if (NAME.matcher(name).matches()) {
              found.add(new CachedFile(used, path, attributes.size()));
            } else if (name.startsWith(UNFINISHED) && used < old) {
              path.toFile().delete();
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path path, IOException error) {
            return FileVisitResult.CONTINUE; // Another process has removed it.
          }

          @Override
          public FileVisitResult postVisitDirectory(Path path, IOException error) {
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  /** Returns the words of the operating system, which Java replaces by types of errors. */
  private static String reason(IOException error) {
    if (error instanceof AccessDeniedException) {
      return "Permission denied";
    }
    if (error instanceof FileAlreadyExistsException || error instanceof NotDirectoryException) {
      return "Not a directory";
    }
    return error instanceof FileSystemException known && known.getReason() != null
        ? known.getReason()
        : error.getMessage();
  }
}
