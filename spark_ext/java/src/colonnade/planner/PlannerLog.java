package colonnade.planner;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The file that receives the standard error of all planners of this JVM. */
final class PlannerLog {
  private static final int TAIL_BYTES = 2000;
  private final Path path;

  /**
   * Creates the file in SPARK_LOG_DIR, or in the folder for temporary files if that is unset or not
   * writable.
   */
  PlannerLog() {
    String folder = System.getenv("SPARK_LOG_DIR");
    if (folder == null || !Files.isWritable(Path.of(folder))) {
      folder = System.getProperty("java.io.tmpdir");
    }
    try {
      path = Files.createTempFile(Path.of(folder), "colonnade-planner-", ".log");
    } catch (IOException error) {
      throw new UncheckedIOException("cannot make the planner's log in " + folder, error);
    }
  }

  File file() {
    return path.toFile();
  }

  long size() {
    return file().length();
  }

  /**
   * Returns the last line since {@code position} and the name of the file, as the end of a
   * sentence.
   */
  String tail(long position) {
    try (RandomAccessFile log = new RandomAccessFile(file(), "r")) {
      long from = Math.max(position, log.length() - TAIL_BYTES);
      byte[] bytes = new byte[(int) (log.length() - from)];
      log.seek(from);
      log.readFully(bytes);
      String text = new String(bytes, StandardCharsets.UTF_8).strip();
      String last = text.substring(text.lastIndexOf('\n') + 1).strip();
      return (last.isEmpty() ? "" : " with \"" + last + "\"") + ", see " + path;
    } catch (IOException error) {
      return ", and its log " + path + " cannot be read";
    }
  }

  /** Removes the file if nothing was written to it. */
  void deleteIfEmpty() {
    if (size() == 0) {
      file().delete();
    }
  }
}
