package colonnade.format;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.unsafe.Platform;

/**
 * Whether a block may hold a value: it may say yes wrongly, never no.
 *
 * <p>Spec: docs/spec/rowset.md#bloom-filters
 */
public final class BloomFilter {
  /** The bytes of a filter are a multiple of this number. */
  public static final int BUCKET_BYTES = 32;

  /** No filter is larger, in bytes. */
  public static final int LIMIT = 64 << 20;

  private static final int BITS_PER_VALUE = 10;

  private BloomFilter() {}

  /** The filter of the values with the first {@code count} hashes, which are sorted by it. */
  public static byte[] encode(long[] hashes, int count) {
    Arrays.sort(hashes, 0, count);
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      if (i == 0 || hashes[i] != hashes[i - 1]) {
        hashes[distinct++] = hashes[i];
      }
    }
    int bucketBits = 8 * BUCKET_BYTES;
    long buckets = Math.max(1, ((long) BITS_PER_VALUE * distinct + bucketBits - 1) / bucketBits);
    byte[] bits = new byte[Math.toIntExact(buckets * BUCKET_BYTES)];
    BlockSplitBloomFilter filter = new BlockSplitBloomFilter(bits);
    for (int i = 0; i < distinct; i++) {
      filter.insertHash(hashes[i]);
    }
    return bits;
  }

  /** Whether one of some values may be there. Requires: a positive multiple of the bucket size. */
  public static boolean mayHold(byte[] bits, long[] hashes) {
    BlockSplitBloomFilter filter = new BlockSplitBloomFilter(bits);
    return Arrays.stream(hashes).anyMatch(filter::findHash);
  }

  /** The hash of whatever is stored as an integer of at most 64 bits. */
  public static long hash(long value) {
    return XXH64.hashLong(value, 0);
  }

  /** The hash of a float or double other than NaN; both zeros have the same hash. */
  public static long hash(double value) {
    return hash(Double.doubleToRawLongBits(value + 0.0));
  }

  /** The hash of an integer of at most 128 bits. */
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

  /** The hash of some bytes, which are a text or binary. */
  public static long hash(byte[] bytes, int from, int to) {
    return XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET + from, to - from, 0);
  }
}
