package colonnade.format;

import java.util.zip.CRC32C;

/** A range of an array of bytes. */
public record Slice(byte[] array, int offset, int length) {
  public static final Slice EMPTY = new Slice(new byte[0], 0, 0);

  public static Slice of(byte[] array) {
    return new Slice(array, 0, array.length);
  }

  public Slice part(int from, int size) {
    return new Slice(array, offset + from, size);
  }

  /** Returns the CRC32C (Castagnoli) of the bytes as an unsigned number. */
  public long crc32c() {
    CRC32C crc = new CRC32C();
    crc.update(array, offset, length);
    return crc.getValue();
  }
}
