package colonnade.write.staged;

import colonnade.format.arrow.Bits;
import colonnade.format.arrow.NullMask;

/** Writes longs as Arrow's little-endian words of 1, 2, 4, 8 or 16 bytes, each minus a base. */
public final class Words {
  private Words() {}

  /** Writes a range of values. Words wider than a long are sign-extended. */
  public static void write(long[] values, int from, int to, long base, int width, byte[] target) {
    switch (width) {
      case 1 -> writeBytes(values, from, to, base, target);
      case 2 -> writeShorts(values, from, to, base, target);
      case 4 -> writeInts(values, from, to, base, target);
      case 8 -> writeLongs(values, from, to, base, target);
      default -> writeWide(values, from, to, target);
    }
  }

  private static void writeBytes(long[] values, int from, int to, long base, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at++) {
      target[at] = (byte) (values[row] - base);
    }
  }

  private static void writeShorts(long[] values, int from, int to, long base, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at += 2) {
      Bits.putShort(target, at, (short) (values[row] - base));
    }
  }

  private static void writeInts(long[] values, int from, int to, long base, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at += 4) {
      Bits.putInt(target, at, (int) (values[row] - base));
    }
  }

  private static void writeLongs(long[] values, int from, int to, long base, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at += 8) {
      Bits.putLong(target, at, values[row] - base);
    }
  }

  private static void writeWide(long[] values, int from, int to, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at += 16) {
      Bits.putLong(target, at, values[row]);
      Bits.putLong(target, at + 8, values[row] >> 63);
    }
  }

  /** Writes zeros over the words of rows that are NULL. */
  public static void eraseNulls(NullMask nulls, int from, int to, int width, byte[] target) {
    for (int row = from; row < to; row++) {
      if (nulls.get(row)) {
        int at = (row - from) * width;
        java.util.Arrays.fill(target, at, at + width, (byte) 0);
      }
    }
  }

  /** Writes indexes into a dictionary. */
  public static void writeIndices(int[] ids, int rows, int width, byte[] target) {
    for (int row = 0; row < rows; row++) {
      switch (width) {
        case 1 -> target[row] = (byte) ids[row];
        case 2 -> Bits.putShort(target, 2 * row, (short) ids[row]);
        default -> Bits.putInt(target, 4 * row, ids[row]);
      }
    }
  }
}
