package colonnade.format.arrow;

import java.util.Arrays;

/** A growing buffer of little-endian bytes that reuses its memory. */
final class ByteOutput {
  byte[] bytes = new byte[1 << 16];
  int size;

  /** Makes room for {@code more} further bytes. */
  void reserve(long more) {
    long needed = size + more;
    if (needed > Integer.MAX_VALUE - 64) {
      throw new IllegalArgumentException(needed + " bytes do not fit into one array");
    }
    if (needed > bytes.length) {
      long doubled = Math.min(2L * bytes.length, Integer.MAX_VALUE - 64);
      bytes = Arrays.copyOf(bytes, (int) Math.max(needed, doubled));
    }
  }

  void write(byte[] source, int from, int length) {
    reserve(length);
    System.arraycopy(source, from, bytes, size, length);
    size += length;
  }

  /** Appends zeros up to the next multiple of 8. */
  void pad() {
    reserve(8);
    while ((size & 7) != 0) {
      bytes[size++] = 0;
    }
  }
}
