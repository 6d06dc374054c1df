package colonnade.write.refusals;

import java.util.Arrays;

/** Grows arrays by doubling, up to the limit of a Java array. */
public final class GrowingArrays {
  private static final int MOST = Integer.MAX_VALUE - 64;

  private GrowingArrays() {}

  /** Returns an array with a slot at {@code index}. */
  public static long[] withSlot(long[] array, int index, String column) {
    return index < array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, index + 1L, column));
  }

  /** Returns an array with a slot at {@code index}. */
  public static int[] withSlot(int[] array, int index, String column) {
    return index < array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, index + 1L, column));
  }

  /** Returns an array with a slot at {@code index}. */
  public static byte[] withSlot(byte[] array, int index, String column) {
    return withRoom(array, index, 1, column);
  }

  /** Returns an array with room for {@code more} bytes after the first {@code size}. */
  public static byte[] withRoom(byte[] array, int size, int more, String column) {
    long needed = (long) size + more;
    return needed <= array.length
        ? array
        : Arrays.copyOf(array, capacity(array.length, needed, column));
  }

  /** Returns the size in bytes of an array of {@code values} values of {@code width} bytes. */
  public static int byteSize(int values, int width, String column) {
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
