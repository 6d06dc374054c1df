package colonnade.write.staged;

import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * A few hundred rows in Spark's own layout, so that each column takes its values in one loop.
 *
 * <pre>
 *   row = a bit for each field that is NULL, in words | a word for each field | what is longer
 * </pre>
 *
 * <p>If each row were given to all columns in turn, each value would cost a virtual call. The buffer
 * costs one copy of each row instead.
 */
public final class RowBuffer {
  private static final int MOST_ROWS = 512;
  private static final long BYTES = Platform.BYTE_ARRAY_OFFSET;

  private final byte[] bytes = new byte[1 << 17];
  private final int[] starts = new int[MOST_ROWS + 1];
  private final int nullBytes;
  private final UnsafeRow cursor;
  private int rows;

  /** Creates a buffer for rows of {@code fields} fields. */
  public RowBuffer(int fields) {
    nullBytes = UnsafeRow.calculateBitSetWidthInBytes(fields);
    cursor = new UnsafeRow(fields);
  }

  public int rows() {
    return rows;
  }

  /** Adds a copy of a row. Returns false, and does nothing, if the row does not fit. */
  public boolean add(UnsafeRow row) {
    int start = starts[rows];
    int size = row.getSizeInBytes();
    if (rows == MOST_ROWS || size > bytes.length - start) {
      return false;
    }
    Platform.copyMemory(
        row.getBaseObject(),
        row.getBaseOffset(),
        bytes,
        BYTES + start,
        size);
    starts[++rows] = start + size;
    return true;
  }

  /** Returns a row, which is valid until the next call. */
  UnsafeRow row(int index) {
    int start = starts[index];
    cursor.pointTo(bytes, BYTES + start, starts[index + 1] - start);
    return cursor;
  }

  /** Whether a field is NULL. */
  boolean isNull(int row, int ordinal) {
    long word = Platform.getLong(bytes, BYTES + starts[row] + (ordinal >> 6 << 3));
    return (word >> ordinal & 1) != 0;
  }

  byte getByte(int row, int ordinal) {
    return Platform.getByte(bytes, field(row, ordinal));
  }

  short getShort(int row, int ordinal) {
    return Platform.getShort(bytes, field(row, ordinal));
  }

  int getInt(int row, int ordinal) {
    return Platform.getInt(bytes, field(row, ordinal));
  }

  long getLong(int row, int ordinal) {
    return Platform.getLong(bytes, field(row, ordinal));
  }

  /** Returns the length of a string or binary in bytes. */
  int length(int row, int ordinal) {
    return (int) getLong(row, ordinal);
  }

  /** Copies a string or binary of {@code length} bytes to {@code target}. */
  void copy(int row, int ordinal, int length, byte[] target, int at) {
    int offset = (int) (getLong(row, ordinal) >>> 32);
    System.arraycopy(bytes, starts[row] + offset, target, at, length);
  }

  private long field(int row, int ordinal) {
    return BYTES + starts[row] + nullBytes + 8L * ordinal;
  }

  public void clear() {
    rows = 0;
  }
}
