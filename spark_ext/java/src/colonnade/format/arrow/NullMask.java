package colonnade.format.arrow;

import java.util.Arrays;

/**
 * Records which staged rows are NULL, with one bit for each row. Rows that are not NULL cost
 * nothing.
 */
public final class NullMask {
  private byte[] bits = new byte[0];
  private int count;

  /** Returns the number of NULL rows. */
  public int count() {
    return count;
  }

  public void set(int row) {
    if (row >> 3 >= bits.length) {
      bits = Arrays.copyOf(bits, Math.max(64, Math.max(2 * bits.length, (row >> 3) + 1)));
    }
    bits[row >> 3] |= (byte) (1 << (row & 7));
    count++;
  }

  public boolean get(int row) {
    int index = row >> 3;
    return index < bits.length && (bits[index] >> (row & 7) & 1) != 0;
  }

  /** Returns the number of NULL rows in a range. */
  public int count(int from, int to) {
    if (count == 0) {
      return 0;
    }
    int nulls = 0;
    int row = from;
    for (; row < to && (row & 7) != 0; row++) {
      nulls += get(row) ? 1 : 0;
    }
    for (; row + 8 <= to; row += 8) {
      nulls += Integer.bitCount(byteAt(row >> 3));
    }
    for (; row < to; row++) {
      nulls += get(row) ? 1 : 0;
    }
    return nulls;
  }

  public void clear() {
    if (count > 0) {
      Arrays.fill(bits, (byte) 0);
      count = 0;
    }
  }

  /** Writes the Arrow validity bitmap of a range. A set bit marks a row that is not NULL. */
  public void writeValidity(int from, int to, byte[] target) {
    int rows = to - from;
    int shift = from & 7;
    for (int i = 0; i < rows + 7 >> 3; i++) {
      int at = (from >> 3) + i;
      int word = byteAt(at) | byteAt(at + 1) << 8;
      target[i] = (byte) ~(word >> shift);
    }
    if ((rows & 7) != 0) {
      target[rows >> 3] &= (byte) ((1 << (rows & 7)) - 1);
    }
  }

  private int byteAt(int index) {
    return index < bits.length ? bits[index] & 0xFF : 0;
  }
}
