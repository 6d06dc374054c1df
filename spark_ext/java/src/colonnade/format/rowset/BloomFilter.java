package colonnade.format.rowset;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/**
 * A Bloom filter of the values of a block. It may claim to hold a value that the block lacks, but
 * never denies a value that the block has.
 *
 * <p>Spec: docs/spec/rowset.md#bloom-filters
 */
public final class BloomFilter {
  /** The length of every filter is a multiple of this number of bytes. */
  public static final int BUCKET_BYTES = 32;

  /** The largest length of a filter in bytes. */
  public static final int LIMIT = 64 << 20;

  private BloomFilter() {}

  /**
   * Returns the filter of the first {@code count} hashes, with {@code bitsPerValue} bits for each
   * distinct one. Sorts this part of {@code hashes} in place and removes duplicates.
   */
  public static byte[] encode(long[] hashes, int count, int bitsPerValue) {
    Arrays.sort(hashes, 0, count);
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      if (i == 0 || hashes[i] != hashes[i - 1]) {
        hashes[distinct++] = hashes[i];
      }
    }
    int bucketBits = 8 * BUCKET_BYTES;
    long buckets = Math.max(1, ((long) bitsPerValue * distinct + bucketBits - 1) / bucketBits);
    byte[] bits = new byte[Math.toIntExact(buckets * BUCKET_BYTES)];
    BlockSplitBloomFilter filter = new BlockSplitBloomFilter(bits);
    for (int i = 0; i < distinct; i++) {
      filter.insertHash(hashes[i]);
    }
    return bits;
  }

  /**
   * Returns whether the filter may hold at least one of the hashes. Requires: the length of {@code
   * bits} is a positive multiple of {@link #BUCKET_BYTES}.
   */
  public static boolean mayHold(byte[] bits, long[] hashes) {
    BlockSplitBloomFilter filter = new BlockSplitBloomFilter(bits);
    return Arrays.stream(hashes).anyMatch(filter::findHash);
  }

  /** Returns the hash of any value that is stored as an integer of at most 64 bits. */
  public static long hash(long value) {
    return XXH64.hashLong(value, 0);
  }

  /** Returns the hash of a float or double other than NaN. Both zeros have the same hash. */
  public static long hash(double value) {
    return hash(Double.doubleToRawLongBits(value + 0.0));
  }

  /** Returns the hash of an integer of at most 128 bits. */
  public static long hash(BigInteger value) {
    if (value.bitLength() < Long.SIZE) {
      return hash(value.longValue());
    }
    byte[] bytes = new byte[2 * Long.BYTES];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = value.shiftRight(Byte.SIZE * i).byteValue();
    }
    return hash(bytes, 0, bytes.length);
  }

  /** Returns the hash of a string in UTF-8 or of a binary value. */
  public static long hash(byte[] bytes, int from, int to) {
    return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET + from, to - from, 0);
  }
}
