package colonnade.write;

import java.util.Arrays;

/**
 * The different values of a block of bytes in order of appearance, and for each row which one it
 * has: what {@link LongDictionary} is for numbers.
 */
final class BytesDictionary {
  private static final double DISTINCT_SHARE = 0.9;
  private static final int OVERHEAD_BYTES = 256;

  private int[] firstRows = new int[1024];
  private int[] hashes = new int[1024];
  private int[] slots = new int[2048];
  private int[] ids = new int[0];
  private int count;
  private long valueBytes;

  /**
   * Collect the values of a range; false, and nothing usable, unless that takes clearly less than
   * {@code rivalBytes}. NULL rows get index 0.
   */
  boolean build(StagedBlobs column, int from, int to, long rivalBytes) {
    int rows = to - from;
    if (rivalBytes < OVERHEAD_BYTES) {
      return false;
    }
    begin(rows);
    boolean isSampled = rows > 2 * LongDictionary.SAMPLE_ROWS;
    int sampled = isSampled ? from + LongDictionary.SAMPLE_ROWS : to;
    if (!add(column, from, from, sampled, rivalBytes)) {
      return false;
    }
    int different = count + (column.nulls.count(from, sampled) > 0 ? 1 : 0);
    if (isSampled && different > DISTINCT_SHARE * LongDictionary.SAMPLE_ROWS) {
      return false;
    }
    return add(column, from, sampled, to, rivalBytes)
        && LongDictionary.worthIt(valueBytes, count, rows, rivalBytes);
  }

  int count() {
    return count;
  }

  /** The row in which a value appears first. */
  int firstRow(int id) {
    return firstRows[id];
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
    valueBytes = 0;
  }

  private boolean add(StagedBlobs column, int first, int from, int to, long rivalBytes) {
    boolean hasNulls = column.nulls.count() > 0;
    for (int row = from; row < to; row++) {
      if (hasNulls && column.nulls.get(row)) {
        ids[row - first] = 0;
        continue;
      }
      int before = count;
      ids[row - first] = idOf(column, row);
      if (count > before) {
        valueBytes += column.end(row) - column.start(row) + column.offsetBytes();
        if (valueBytes > rivalBytes) {
          return false;
        }
      }
    }
    return true;
  }

  private int idOf(StagedBlobs column, int row) {
    int start = column.start(row);
    int end = column.end(row);
    int hash = hash(column.bytes, start, end);
    int mask = slots.length - 1;
    int slot = hash & mask;
    while (slots[slot] != 0) {
      int id = slots[slot] - 1;
      if (hashes[id] == hash && isSame(column, firstRows[id], start, end)) {
        return id;
      }
      slot = slot + 1 & mask;
    }
    if (count == firstRows.length) {
      firstRows = Arrays.copyOf(firstRows, 2 * count);
      hashes = Arrays.copyOf(hashes, 2 * count);
    }
    firstRows[count] = row;
    hashes[count++] = hash;
    slots[slot] = count;
    if (2 * count > slots.length) {
      grow();
    }
    return count - 1;
  }

  private static boolean isSame(StagedBlobs column, int row, int start, int end) {
    return Arrays.equals(
        column.bytes, column.start(row), column.end(row), column.bytes, start, end);
  }

  private void grow() {
    slots = new int[2 * slots.length];
    int mask = slots.length - 1;
    for (int id = 0; id < count; id++) {
      int slot = hashes[id] & mask;
      while (slots[slot] != 0) {
        slot = slot + 1 & mask;
      }
      slots[slot] = id + 1;
    }
  }

  private static int hash(byte[] bytes, int start, int end) {
    long hash = end - start;
    int at = start;
    for (; at + 8 <= end; at += 8) {
      hash = mix(hash ^ Bits.getLong(bytes, at));
    }
    if (at < end) {
      long rest = 0;
      for (; at < end; at++) {
        rest = rest << 8 | bytes[at] & 0xFF;
      }
      hash = mix(hash ^ rest);
    }
    return (int) (hash ^ hash >>> 32);
  }

  private static long mix(long word) {
    long mixed = word * 0x9E3779B97F4A7C15L;
    return mixed ^ mixed >>> 29;
  }
}
