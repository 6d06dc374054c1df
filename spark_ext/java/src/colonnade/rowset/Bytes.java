package colonnade.rowset;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.spark.unsafe.Platform;

/**
 * One buffer of a block, ready to be read: bytes of the stream itself, or decompressed into an
 * array that the next block uses again.
 */
final class Bytes {
  byte[] array;
  /** Where the buffer begins, as {@link Platform} counts. */
  long at;

  private int length;
  private byte[] own = new byte[0];

  /** Loads a buffer that must have at least {@code needed} bytes. */
  void load(ArrowStream.Batch batch, Buffer buffer, long needed, ZstdDecompressCtx zstd)
      throws Malformed {
    int offset = batch.body() + (int) buffer.offset();
    int stored = (int) buffer.length();
    long size = -1;
    if (batch.compressed() && stored > 0) {
      size = ByteBuffer.wrap(batch.array()).order(ByteOrder.LITTLE_ENDIAN).getLong(offset);
      offset += 8;
      stored -= 8;
    }
    if (size == -1) {
      array = batch.array();
      at = Platform.BYTE_ARRAY_OFFSET + (long) offset;
      length = stored;
    } else {
      decompress(batch.array(), offset, stored, (int) size, zstd);
    }
    if (length < needed) {
      throw new Malformed(
          "a buffer of the Arrow stream has " + length + " bytes where " + needed + " are needed");
    }
  }

  private void decompress(byte[] from, int offset, int stored, int size, ZstdDecompressCtx zstd)
      throws Malformed {
    if (own.length < size) {
      own = new byte[size];
    }
    int found;
    try {
      found = zstd.decompressByteArray(own, 0, size, from, offset, stored);
    } catch (ZstdException error) {
      throw new Malformed("a buffer of the Arrow stream cannot be decompressed", error);
    }
    if (found != size) {
      throw new Malformed("a buffer of the Arrow stream has " + found + " bytes, not " + size);
    }
    array = own;
    at = Platform.BYTE_ARRAY_OFFSET;
    length = size;
  }

  int length() {
    return length;
  }

  int getInt(long index) {
    return Platform.getInt(array, at + 4 * index);
  }

  long getLong(long index) {
    return Platform.getLong(array, at + 8 * index);
  }

  /** A signed integer of 1, 2 or 4 bytes. */
  int getSigned(int index, int width) {
    return switch (width) {
      case 1 -> Platform.getByte(array, at + index);
      case 2 -> Platform.getShort(array, at + 2L * index);
      default -> Platform.getInt(array, at + 4L * index);
    };
  }

  /** Sets an integer of so many bytes to zero. */
  void clear(int index, int width) {
    for (int i = 0; i < width; i++) {
      Platform.putByte(array, at + (long) width * index + i, (byte) 0);
    }
  }
}
