package colonnade.planner;

import static colonnade.store.OwnFiles.keepsFiles;

import colonnade.store.OwnFiles;
import java.io.File;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The file that receives the standard error of all planners of this JVM. */
final class PlannerLog {
  private static final int TAIL_BYTES = 2000;
  private Path path;

  /**
   * Returns the file. The first call creates it in SPARK_LOG_DIR, or in the folder for temporary
   * files if that is unset, not writable, or lets other users replace the file.
   */
  synchronized File file() throws ColonnadeException {
    if (path == null) {
      String set = System.getenv("SPARK_LOG_DIR");
      boolean good = set != null && Files.isWritable(Path.of(set)) && keepsFiles(Path.of(set));
      path = create(Path.of(good ? set : System.getProperty("java.io.tmpdir")));
    }
    return path.toFile();
  }

  private static Path create(Path folder) throws ColonnadeException {
    try {
      if (!keepsFiles(folder)) {
        throw new IOException("other users could replace it there");
      }
      return Files.createTempFile(folder, "colonnade-planner-", ".log");
    } catch (IOException error) {
      String sentence =
          String.format(
              "The planner's log cannot be in %s (%s); set SPARK_LOG_DIR to a folder that only this"
                  + " user can write to.",
              folder, error.getMessage());
      throw new ColonnadeException("COLONNADE_PLANNER", sentence, error);
    }
  }

  synchronized long size() {
    return path == null ? 0 : path.toFile().length();
  }

  /**
   * Returns the last line since {@code position} and the name of the file, as the end of a
   * sentence.
   */
  synchronized String tail(long position) {
    if (path == null) {
      return "";
    }
    try (FileChannel log = OwnFiles.open(path, StandardOpenOption.READ)) {
      log.position(Math.max(position, log.size() - TAIL_BYTES));
      byte[] bytes = Channels.newInputStream(log).readNBytes(TAIL_BYTES);
      String text = new String(bytes, StandardCharsets.UTF_8).strip();
      String last = text.substring(text.lastIndexOf('\n') + 1).strip();
      return (last.isEmpty() ? "" : " with \"" + last + "\"") + ", see " + path;
    } catch (IOException error) {
      return ", and its log " + path + " cannot be read";
    }
  }

  /** Removes the file if nothing was written to it. */
  synchronized void deleteIfEmpty() {
    if (path != null && size() == 0) {
      path.toFile().delete();
    }
  }
}
