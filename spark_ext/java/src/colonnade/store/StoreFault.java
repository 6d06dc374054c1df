package colonnade.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NotDirectoryException;
import java.util.Map;

/** Faults of writing as one sentence that says what to do, the same as the Python store's. */
final class StoreFault {
  static final String NO_LINKS =
      "this file system has no hard links, without which a commit on local disk is not safe;"
          + " keep the database on another one";

  private static final Map<String, String> REASONS =
      Map.of(
          "No space left on device",
          "the disk is full; free some space and run this again",
          "Disk quota exceeded",
          "the disk quota is used up; free some space and run this again",
          "File too large",
          "the file size limit of the file system or of this process is reached",
          "Read-only file system",
          "the file system is mounted read-only",
          "Operation not supported",
          NO_LINKS,
          "Operation not permitted",
          NO_LINKS);

  private StoreFault() {}

  /** The error of an object that could not be written; what already is a sentence stays. */
  static IOException written(String location, IOException cause) {
    if (cause.getMessage() != null && cause.getMessage().startsWith("[COLONNADE_")) {
      return cause;
    }
    return new IOException(
        "[COLONNADE_STORE] " + location + " could not be written: " + reason(cause) + ".",
        cause);
  }

  /** The error of a name that is taken. */
  static IOException exists(String location) {
    return new IOException("[COLONNADE_ALREADY_EXISTS] " + location + " exists already.");
  }

  private static String reason(IOException cause) {
    if (cause instanceof AccessDeniedException) {
      return "permission denied; check the owner and mode of the file and its folders";
    }
    if (cause instanceof NotDirectoryException) {
      return "one of its folders is a file or a symbolic link, and must be a real folder";
    }
    String text = cause.getMessage();
    if (cause instanceof FileSystemException error && error.getReason() != null) {
      text = error.getReason();
    }
    return text == null ? cause.getClass().getSimpleName() : REASONS.getOrDefault(text, text);
  }
}
