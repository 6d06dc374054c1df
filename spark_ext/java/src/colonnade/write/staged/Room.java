package colonnade.write.staged;

import java.util.Arrays;

/** Arrays that grow by doubling, up to what one Java array can hold. */
final class Room {
  private static final int MOST = Integer.MAX_VALUE - 64;

  private Room() {}

  /** An array with a slot at {@code index}. */
  static long[] forOne(long[] array, int index, String column) {
    return index < array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, index + 1L, column));
  }

  /** An array with a slot at {@code index}. */
  static int[] forOne(int[] array, int index, String column) {
    return index < array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, index + 1L, column));
  }

  /** An array with a slot at {@code index}. */
  static byte[] forOne(byte[] array, int index, String column) {
    return forMore(array, index, 1, column);
  }

  /** An array with room for {@code more} bytes behind {@code size}. */
  static byte[] forMore(byte[] array, int size, int more, String column) {
    long needed = (long) size + more;
    return needed <= array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, needed, column));
  }

  /** The size of an array for {@code values} values of {@code width} bytes. */
  static int bytes(int values, int width, String column) {
    long bytes = (long) values * width;
    if (bytes > MOST) {
      throw Refusal.tooLarge(column, bytes);
    }
    return (int) bytes;
  }

  private static int capacity(int now, long needed, String column) {
    if (needed > MOST) {
      throw Refusal.tooLarge(column, needed);
    }
    return (int) Math.max(needed, Math.min(2L * now, MOST));
  }
}
