package colonnade.store;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NotDirectoryException;
import java.util.Map;

/**
 * Creates the errors of reading and writing objects: a stable code followed by one sentence.
 *
 * <p>{@link TaskFailure} turns them into the errors that users see.
 */
public final class StoreException {
  private static final String CORRUPTION = "[COLONNADE_CORRUPTION] ";

  /** Why a file system without them is refused. */
  static final String NO_LINKS =
      "this file system has no hard links, without which a commit on local disk is not safe;"
          + " keep the database on another one";

  /** Sentences that say what to do about an error of the operating system, by its text. */
  private static final Map<String, String> REASONS =
      Map.of(
          "No space left on device",
          "the disk is full; free some space and run this again",
          "Disk quota exceeded",
          "the disk quota is used up; free some space and run this again",
          "File too large",
          "the file size limit of the file system or of this process is reached",
          "Read-only file system",
          "the file system is mounted read-only");

  private StoreException() {}

  /**
   * Creates the error for bytes that are missing or differ from what is known about them. Such
   * bytes are never interpreted.
   */
  public static IOException corruption(String sentence, Throwable cause) {
    return new IOException(CORRUPTION + sentence, cause);
  }

  /** Whether an error says that bytes are missing or differ from what is known about them. */
  public static boolean isCorruption(IOException error) {
    return String.valueOf(error.getMessage()).startsWith(CORRUPTION);
  }

  /** Whether an error already has a code and a sentence. */
  public static boolean isCoded(IOException error) {
    return String.valueOf(error.getMessage()).startsWith("[COLONNADE_");
  }

  /**
   * Creates the error for a missing object. Only the driver can distinguish damage from an epoch
   * that is no longer kept.
   */
  public static IOException missing(String location, Throwable cause) {
    return corruption(
        location
            + " is missing, though the log names it. Where a vacuum removed it while the query ran,"
            + " run that again.",
        cause);
  }

  /** Creates the error for data that a newer version of Colonnade wrote. */
  public static IOException unsupported(String sentence) {
    return new IOException("[COLONNADE_UNSUPPORTED_FORMAT] " + sentence);
  }

  /**
   * Creates the error for a call that the store refused or failed. Returns an error that already
   * has a code and a sentence unchanged.
   */
  public static IOException failed(String location, String verb, IOException cause) {
    if (isCoded(cause)) {
      return cause;
    }
    return new IOException(
        "[COLONNADE_STORE] " + location + " could not be " + verb + ": " + reason(cause) + ".",
        cause);
  }

  /** Creates the error for a folder of local files that cannot keep the blocks of a RowSet. */
  static IOException notSpilled(String folder, IOException cause) {
    return new IOException(
        "[COLONNADE_STORE] The blocks of a large RowSet could not be kept in the folder " + folder
            + ": " + reason(cause) + ". Another folder can be named in spark.local.dir.",
        cause);
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
    return text == null ? cause.getClass().getName() : REASONS.getOrDefault(text, text);
  }

  /** Creates the error for a new object whose name already exists. */
  public static IOException exists(String location) {
    return new IOException("[COLONNADE_ALREADY_EXISTS] " + location + " exists already.");
  }

  /** Creates the error for an object that ends before a range that it must contain. */
  public static IOException truncated(String location, long size, long offset, int length) {
    return corruption(
        location + " is truncated: " + length + " bytes from offset " + offset
            + " are needed and it holds " + size + " bytes.",
        null);
  }
}
