package colonnade.write.rowset;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.Deflater;

/**
 * Encodes where the rows of one RowSet after another come from. The origin of a row is the handler
 * of the row that it replaces, RowSet id {@code << 32 |} row number; a new row has none.
 *
 * <p>Origins are compressed block by block as they come. Before the first row with an origin,
 * nothing is held.
 */
public final class Origins implements AutoCloseable {
  /** Stands for the origin of a row that is new to the table. */
  public static final long NEW = -1;

  /** How many rows a block has, whose codes have their lowest bytes together, then the next. */
  private static final int BLOCK = 1 << 16;

  private static final int FIRST_ROOM = 256;
  private static final long[] NO_ROW = {-1};

  private final ByteArrayOutputStream compressed = new ByteArrayOutputStream();

  /** The last row of each RowSet that an origin names, in an array of one. */
  private final Map<Integer, long[]> lastRows = new HashMap<>();

  private int[] rowSets;
  private int[] differences;
  private int waiting;
  private int rowSet;
  private long[] lastRow = NO_ROW;
  private byte[] plane;
  private byte[] room;
  private Deflater deflater;
  private long rows;

  /**
   * Adds the next row of the RowSet.
   *
   * @throws IllegalStateException for a row that replaces the same row as the one before it
   */
  public void add(long origin) {
    if (origin != NEW) {
      addOrigin(origin);
    } else if (rowSets != null) {
      put(0, 0);
    }
    rows++;
  }

  private void addOrigin(long origin) {
    if (rowSets == null) {
      begin();
    }
    int next = (int) (origin >>> 32);
    if (next != rowSet || lastRow == NO_ROW) {
      rowSet = next;
      lastRow = lastRows.computeIfAbsent(next, each -> NO_ROW.clone());
    }
    long row = origin & 0xFFFFFFFFL;
    int difference = (int) (row - lastRow[0]);
    if (difference == 0) {
      throw new IllegalStateException("Two rows replace the same row " + origin + ".");
    }
    lastRow[0] = row;
    put(rowSet, difference << 1 ^ difference >> 31);
  }

  private void begin() {
    rowSets = new int[FIRST_ROOM];
    differences = new int[FIRST_ROOM];
    for (long row = 0; row < rows; row++) {
      put(0, 0);
    }
  }

  private void put(int number, int difference) {
    if (waiting == rowSets.length) {
      rowSets = Arrays.copyOf(rowSets, 2 * waiting);
      differences = Arrays.copyOf(differences, 2 * waiting);
    }
    rowSets[waiting] = number;
    differences[waiting] = difference;
    if (++waiting == BLOCK) {
      compress();
    }
  }

  private void compress() {
    if (deflater == null) {
      deflater = new Deflater(Deflater.BEST_SPEED);
      room = new byte[4096];
    }
    plane = plane != null && plane.length >= waiting ? plane : new byte[waiting];
    compress(rowSets);
    compress(differences);
    waiting = 0;
  }

  private void compress(int[] codes) {
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      for (int row = 0; row < waiting; row++) {
        plane[row] = (byte) (codes[row] >>> shift);
      }
      deflater.setInput(plane, 0, waiting);
      while (!deflater.needsInput()) {
        take();
      }
    }
  }

  private void take() {
    compressed.write(room, 0, deflater.deflate(room));
  }

  /** Returns about how many bytes wait in memory. */
  public long waitingBytes() {
    return rowSets == null ? 0 : 2L * Integer.BYTES * rowSets.length + compressed.size();
  }

  /**
   * Ends a RowSet of {@code count} rows, and begins the next one. Returns the origins of its rows in
   * base64; null if all its rows are new.
   */
  public String end(long count) {
    if (rows != count) {
      throw new IllegalStateException("Of " + count + " rows, " + rows + " state their origins.");
    }
    String encoded = rowSets == null ? null : encode();
    close();
    return encoded;
  }

  private String encode() {
    compress();
    deflater.finish();
    while (!deflater.finished()) {
      take();
    }
    return Base64.getEncoder().encodeToString(compressed.toByteArray());
  }

  /** Releases all memory, and begins with no row. */
  @Override
  public void close() {
    if (deflater != null) {
      deflater.end();
      deflater = null;
    }
    compressed.reset();
    lastRows.clear();
    lastRow = NO_ROW;
    rowSets = null;
    differences = null;
    plane = null;
    waiting = 0;
    rows = 0;
  }
}
