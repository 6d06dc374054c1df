package colonnade.read.vector;

import colonnade.format.Malformed;
import colonnade.format.arrow.ArrowStream;
import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.spark.unsafe.Platform;

/**
 * One buffer of a block that is ready to be read. It is either a part of the stream or decompressed
 * into an array that the next block reuses.
 */
public final class Bytes {
  /** Vectors read eight bytes for every value, however narrow the value is. */
  public static final int READ_BEYOND = 8;

  byte[] array;
  /** The position of the buffer in its array, as {@link Platform} counts it. */
  long at;

  private int length;
  private byte[] own = new byte[0];

  /** Loads a buffer. Throws {@link Malformed} if it has fewer than {@code needed} bytes. */
  public void load(ArrowStream.Batch batch, Buffer buffer, long needed, ZstdDecompressCtx zstd)
      throws Malformed {
    int offset = batch.body() + (int) buffer.offset();
    int stored = (int) buffer.length();
    long size = -1;
    if (batch.compressed() && stored > 0) {
      size = ByteBuffer.wrap(batch.array()).order(ByteOrder.LITTLE_ENDIAN).getLong(offset);
      offset += 8;
      stored -= 8;
    }
    if (size != -1) {
      decompress(batch.array(), offset, stored, (int) size, zstd);
    } else if (offset + (long) stored + READ_BEYOND > batch.array().length) {
      reserve(stored);
      System.arraycopy(batch.array(), offset, own, 0, stored);
      setOwn(stored);
    } else {
      array = batch.array();
      at = Platform.BYTE_ARRAY_OFFSET + (long) offset;
      length = stored;
    }
    if (length < needed) {
      throw new Malformed(
          "a buffer of the Arrow stream has " + length + " bytes where " + needed + " are needed");
    }
  }

  private void decompress(byte[] from, int offset, int stored, int size, ZstdDecompressCtx zstd)
      throws Malformed {
    reserve(size);
    int found;
    try {
      found = zstd.decompressByteArray(own, 0, size, from, offset, stored);
    } catch (ZstdException error) {
      throw new Malformed("a buffer of the Arrow stream cannot be decompressed", error);
    }
    if (found != size) {
      throw new Malformed("a buffer of the Arrow stream has " + found + " bytes, not " + size);
    }
    setOwn(size);
  }

  /** Makes this buffer one of {@code size} bytes of its own, whose content is arbitrary. */
  public void make(long size) throws Malformed {
    reserve((int) Math.min(size, Integer.MAX_VALUE));
    setOwn((int) size);
  }

  /** Makes this buffer a copy of the first {@code size} bytes of another one. */
  public void copy(Bytes from, int size) throws Malformed {
    make(size);
    Platform.copyMemory(from.array, from.at, array, at, size);
  }

  /** Makes this buffer a whole array, which has {@link #READ_BEYOND} bytes after its content. */
  public void share(byte[] whole) {
    array = whole;
    at = Platform.BYTE_ARRAY_OFFSET;
    length = whole.length - READ_BEYOND;
  }

  public void putLong(long index, long value) {
    Platform.putLong(array, at + 8 * index, value);
  }

  private void reserve(int size) throws Malformed {
    if (size > Integer.MAX_VALUE - 2 * READ_BEYOND) {
      throw new Malformed("a buffer of " + size + " bytes is more than this JVM can hold");
    }
    if (own.length < size + READ_BEYOND) {
      own = new byte[size + READ_BEYOND];
    }
  }

  private void setOwn(int size) {
    array = own;
    at = Platform.BYTE_ARRAY_OFFSET;
    length = size;
  }

  public int length() {
    return length;
  }

  public int getInt(long index) {
    return Platform.getInt(array, at + 4 * index);
  }

  public long getLong(long index) {
    return Platform.getLong(array, at + 8 * index);
  }

  /** Returns an unsigned integer of 1, 2 or 4 bytes. */
  public long getUnsigned(int index, int width) {
    return switch (width) {
      case 1 -> Platform.getByte(array, at + index) & 0xFF;
      case 2 -> Platform.getShort(array, at + 2L * index) & 0xFFFF;
      default -> Platform.getInt(array, at + 4L * index) & 0xFFFF_FFFFL;
    };
  }

  /**
   * Returns the largest of {@code count} unsigned integers of 1, 2 or 4 bytes; 0 if {@code count}
   * is 0.
   */
  public long largest(int count, int width) {
    long found = 0;
    switch (width) {
      case 1 -> {
        for (int i = 0; i < count; i++) {
          found = Math.max(found, Platform.getByte(array, at + i) & 0xFF);
        }
      }
      case 2 -> {
        for (int i = 0; i < count; i++) {
          found = Math.max(found, Platform.getShort(array, at + 2L * i) & 0xFFFF);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          found = Math.max(found, getInt(i) & 0xFFFF_FFFFL);
        }
      }
    }
    return found;
  }

  /**
   * Returns whether any of {@code count} unsigned integers is not 0 although {@code validity} marks
   * it as NULL.
   */
  public boolean anyUnderNull(Bytes validity, int count, int width) {
    long found = 0;
    for (int i = 0; i < count; i++) {
      int bit = Platform.getByte(validity.array, validity.at + (i >> 3)) >> (i & 7) & 1;
      found |= getUnsigned(i, width) & bit - 1;
    }
    return found != 0;
  }

  /**
   * Replaces this buffer with the offsets of values that have the given lengths. The first offset
   * is 0. Returns the end of the last value. If it exceeds the range of an int, the offsets are
   * invalid.
   */
  public long addUp(Bytes lengths, int count, int width) throws Malformed {
    reserve(4 * count + 4);
    setOwn(4 * count + 4);
    byte[] from = lengths.array;
    long start = lengths.at;
    byte[] to = own;
    long place = at;
    long end = 0;
    Platform.putInt(to, place, 0);
    switch (width) {
      case 1 -> {
        for (int i = 0; i < count; i++) {
          end += Platform.getByte(from, start + i) & 0xFF;
          Platform.putInt(to, place + 4L * i + 4, (int) end);
        }
      }
      case 2 -> {
        for (int i = 0; i < count; i++) {
          end += Platform.getShort(from, start + 2L * i) & 0xFFFF;
          Platform.putInt(to, place + 4L * i + 4, (int) end);
        }
      }
      default -> {
        for (int i = 0; i < count; i++) {
          end += Platform.getInt(from, start + 4L * i) & 0xFFFF_FFFFL;
          Platform.putInt(to, place + 4L * i + 4, (int) end);
        }
      }
    }
    return end;
  }

  /** Sets an integer of {@code width} bytes to zero. */
  public void clear(int index, int width) {
    for (int i = 0; i < width; i++) {
      Platform.putByte(array, at + (long) width * index + i, (byte) 0);
    }
  }
}
