package colonnade.store;

import com.sun.security.auth.module.UnixSystem;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Files outside of databases that Colonnade opens by a name that others can know.
 *
 * <p>Another user could put a link there, or own the folder. So no link is followed, no file is
 * emptied when it is opened, and a folder that this user does not control alone is refused.
 */
public final class OwnFiles {
  private static final int FORMAT = 0170000;
  private static final int FOLDER = 0040000;
  private static final int LINK = 0120000;
  private static final int FILE = 0100000;
  private static final int STICKY = 01000;
  private static final int WRITABLE_BY_OTHERS = 0022;
  private static final long USER = new UnixSystem().getUid();
  private static final Set<PosixFilePermission> MODE =
      PosixFilePermissions.fromString("rw-------");

  private OwnFiles() {}

  /**
   * Opens a file that is this user's. {@code CREATE} and {@code CREATE_NEW} make it for this user
   * alone. The file must lie in a folder that passed {@link #requireOwnFolder}.
   *
   * @throws IOException if the name is that of a link, of no file, or of another user's file
   */
  public static FileChannel open(Path path, StandardOpenOption... options) throws IOException {
    Set<OpenOption> all = new HashSet<>(List.of(options));
    if (all.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
      throw new IllegalArgumentException("a file is emptied only when it is known to be ours");
    }
    all.add(LinkOption.NOFOLLOW_LINKS);
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      Status status = Status.of(path); // Opening a named pipe would hang.
      if (!status.is(FILE) || status.user() != USER) {
        throw new FileSystemException(path.toString(), null, "it is no file of this user");
      }
    }
    return FileChannel.open(path, all, PosixFilePermissions.asFileAttribute(MODE));
  }

  /**
   * Requires that a folder is this user's, and that no other user can write to it.
   *
   * @throws FileSystemException with a reason that says why not, and what to do
   */
  public static void requireOwnFolder(Path folder) throws IOException {
    Status status = Status.of(folder);
    String reason;
    if (status.is(LINK)) {
      reason = folder + " is a link; name the folder itself";
    } else if (!status.is(FOLDER)) {
      throw new NotDirectoryException(folder.toString());
    } else if (status.user() != USER) {
      reason =
          folder + " belongs to another user (uid " + status.user() + "); name another folder";
    } else if ((status.mode() & WRITABLE_BY_OTHERS) != 0) {
      reason = "other users can write to " + folder + "; run chmod go-w on it";
    } else {
      return;
    }
    throw new FileSystemException(folder.toString(), null, reason);
  }

  /**
   * Returns whether no other user can replace a file that this user has made in a folder. That
   * holds, too, for a shared folder in which everybody may remove only files of their own.
   */
  public static boolean keepsFiles(Path folder) {
    Status status;
    try {
      status = Status.of(folder.toRealPath());
    } catch (IOException error) {
      return false;
    }
    boolean shared = (status.mode() & WRITABLE_BY_OTHERS) != 0;
    return (status.user() == USER || status.user() == 0)
        && (!shared || (status.mode() & STICKY) != 0);
  }

  private record Status(long user, int mode) {
    static Status of(Path path) throws IOException {
      Map<String, Object> found =
          Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
      return new Status(((Number) found.get("uid")).longValue(), (Integer) found.get("mode"));
    }

    boolean is(int kind) {
      return (mode & FORMAT) == kind;
    }
  }
}
