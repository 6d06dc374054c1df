package colonnade.store;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.util.Utils;

/**
 * Keeps bytes on local disk until their place in an object is known. The file has no name, so it
 * disappears with its process.
 *
 * <p>In one object the bytes of a column are adjacent, but rows arrive cut by cut, with all columns
 * of each cut. So the blocks of a large RowSet wait here. Spec: docs/spec/rowset.md#places
 */
public final class Spill implements AutoCloseable {
  private final Path folder;
  private final RandomAccessFile file;
  private long length;

  /** The place of some bytes in the file. */
  public record Spilled(long offset, int length) {}

  private Spill(Path folder, RandomAccessFile file) {
    this.folder = folder;
    this.file = file;
  }

  /**
   * Creates an empty file in Spark's folder for local files. Without Spark, the folder is that of
   * the JVM for temporary files.
   *
   * @throws IOException with a sentence that names the folder, if it cannot be used
   */
  public static Spill create() throws IOException {
    SparkEnv spark = SparkEnv.get();
    Path folder =
        Path.of(
            spark == null
                ? System.getProperty("java.io.tmpdir")
                : Utils.getLocalDir(spark.conf()));
    try {
      Path path = Files.createTempFile(folder, "colonnade-", ".blocks");
      try {
        return new Spill(folder, new RandomAccessFile(path.toFile(), "rw"));
      } finally {
        Files.delete(path);
      }
    } catch (IOException error) {
      throw StoreException.notSpilled(folder.toString(), error);
    }
  }

  /** Appends bytes, and returns their place. */
  public Spilled add(byte[] data) throws IOException {
    try {
      file.seek(length);
      file.write(data);
    } catch (IOException error) {
      throw StoreException.notSpilled(folder.toString(), error);
    }
    Spilled piece = new Spilled(length, data.length);
    length += data.length;
    return piece;
  }

  /** Returns bytes that were added. */
  public byte[] read(Spilled piece) throws IOException {
    byte[] data = new byte[piece.length()];
    try {
      file.seek(piece.offset());
      file.readFully(data);
    } catch (IOException error) {
      throw StoreException.notSpilled(folder.toString(), error);
    }
    return data;
  }

  /** Frees the space on the disk. Never throws. */
  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException error) {
      // Nothing in the file is needed any more.
      return;
    }
  }
}
