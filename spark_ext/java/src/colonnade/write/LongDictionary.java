package colonnade.write;

import java.util.Arrays;

/**
 * The different values of a block of numbers in order of appearance, and for each row which one it
 * has. Keeps its memory from block to block.
 *
 * <p>Spec: docs/spec/rowset.md#dictionary
 */
final class LongDictionary {
  /** So many first rows are looked at before anything large is tried. */
  static final int SAMPLE_ROWS = 4096;

  private static final double CLEARLY_LESS = 0.8;
  private static final int OVERHEAD_BYTES = 256;

  private long[] values = new long[1024];
  private int[] slots = new int[2048];
  private int[] ids = new int[0];
  private int count;

  /**
   * Collect the values of a range; false, and nothing usable, unless that takes clearly less than
   * {@code rivalBytes}.
   *
   * <p>NULL rows get index 0. Gives up early when the share of different values among the first
   * rows is above {@code distinctShare}.
   */
  boolean build(StagedNumbers column, int from, int to, double distinctShare, long rivalBytes) {
    int rows = to - from;
    if (rivalBytes < OVERHEAD_BYTES) {
      return false;
    }
    begin(rows);
    boolean isSampled = rows > 2 * SAMPLE_ROWS;
    int sampled = isSampled ? from + SAMPLE_ROWS : to;
    if (!add(column, from, from, sampled, rivalBytes)) {
      return false;
    }
    int different = count + (column.nulls.count(from, sampled) > 0 ? 1 : 0);
    if (isSampled && different > distinctShare * SAMPLE_ROWS) {
      return false;
    }
    return add(column, from, sampled, to, rivalBytes)
        && worthIt((long) count * column.width, count, rows, rivalBytes);
  }

  /** Whether a dictionary of that size is clearly smaller than its rival. */
  static boolean worthIt(long valueBytes, int count, int rows, long rivalBytes) {
    long size = valueBytes + (long) rows * indexWidth(count) + OVERHEAD_BYTES;
    return size <= CLEARLY_LESS * rivalBytes;
  }

  /** Bytes of an index into so many values. */
  static int indexWidth(int count) {
    return count <= 1 << 7 ? 1 : count <= 1 << 15 ? 2 : 4;
  }

  int count() {
    return count;
  }

  long[] values() {
    return values;
  }

  /** For each row of the range, counted from its first, the index of its value. */
  int[] ids() {
    return ids;
  }

  private void begin(int rows) {
    if (ids.length < rows) {
      ids = new int[rows];
    }
    if (slots.length > 4 * Math.max(count, 512)) {
      slots = new int[2048];
    } else {
      Arrays.fill(slots, 0);
    }
    count = 0;
  }

  private boolean add(StagedNumbers column, int first, int from, int to, long rivalBytes) {
    long[] source = column.values;
    boolean hasNulls = column.nulls.count() > 0;
    int most = (int) Math.min(CLEARLY_LESS * rivalBytes / column.width, Integer.MAX_VALUE - 1);
    long last = 0;
    int lastId = -1;
    for (int row = from; row < to; row++) {
      if (hasNulls && column.nulls.get(row)) {
        ids[row - first] = 0;
        continue;
      }
      long value = source[row];
      if (value != last || lastId < 0) {
        lastId = idOf(value);
        last = value;
        if (count > most) {
          return false;
        }
      }
      ids[row - first] = lastId;
    }
    return true;
  }

  private int idOf(long value) {
    int mask = slots.length - 1;
    int slot = hash(value) & mask;
    while (slots[slot] != 0) {
      if (values[slots[slot] - 1] == value) {
        return slots[slot] - 1;
      }
      slot = slot + 1 & mask;
    }
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count++] = value;
    slots[slot] = count;
    if (2 * count > slots.length) {
      grow();
    }
    return count - 1;
  }

  private void grow() {
    slots = new int[2 * slots.length];
    int mask = slots.length - 1;
    for (int id = 0; id < count; id++) {
      int slot = hash(values[id]) & mask;
      while (slots[slot] != 0) {
        slot = slot + 1 & mask;
      }
      slots[slot] = id + 1;
    }
  }

  private static int hash(long value) {
    long mixed = value * 0x9E3779B97F4A7C15L;
    return (int) (mixed ^ mixed >>> 32);
  }
}
