package colonnade.rowset;

import java.util.zip.CRC32C;

/** Some bytes of an array. */
record Slice(byte[] array, int offset, int length) {
  static final Slice EMPTY = new Slice(new byte[0], 0, 0);

  static Slice of(byte[] array) {
    return new Slice(array, 0, array.length);
  }

  Slice part(int from, int size) {
    return new Slice(array, offset + from, size);
  }

  /** CRC32C (Castagnoli), as an unsigned number. */
  long crc32c() {
    CRC32C crc = new CRC32C();
    crc.update(array, offset, length);
    return crc.getValue();
  }
}
