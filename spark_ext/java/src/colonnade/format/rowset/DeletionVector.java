package colonnade.format.rowset;

import colonnade.format.Slice;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Base64;
import org.roaringbitmap.BatchIterator;
import org.roaringbitmap.PeekableIntIterator;
import org.roaringbitmap.RoaringBitmap;

/**
 * The deleted rows of one RowSet.
 *
 * <p>Spec: docs/spec/deletion-vector.md
 */
public final class DeletionVector {
  private static final long SIZE_LIMIT = 1L << 30;

  private final RoaringBitmap rows;

  private DeletionVector(RoaringBitmap rows) {
    this.rows = rows;
  }

  /** Creates a vector of rows that no stored vector deletes. */
  public static DeletionVector of(RoaringBitmap rows) {
    return new DeletionVector(rows);
  }

  /** Returns a vector that has more rows. */
  public DeletionVector with(RoaringBitmap more) {
    return new DeletionVector(RoaringBitmap.or(rows, more));
  }

  /** Returns whether every row is deleted from {@code firstRow} on and before {@code end}. */
  public boolean covers(long firstRow, long end) {
    return rows.contains(firstRow, end);
  }

  /** Reads and verifies the deletion vector of a RowSet with {@code rowCount} rows. */
  public static DeletionVector read(ByteSource store, String prefix, JsonNode entry, long rowCount)
      throws IOException {
    String object = entry.get("object").textValue();
    long length = entry.get("check").get("length").longValue();
    String location;
    byte[] bytes;
    if (entry.hasNonNull("data")) {
      location = "Deletion vector " + object + " in the log of " + store.url();
      try {
        bytes = Base64.getDecoder().decode(entry.get("data").textValue());
      } catch (IllegalArgumentException error) {
        throw StoreException.corruption(location + " is not base64.", error);
      }
    } else {
      String name = new ObjectNames(prefix, object).deletionVector();
      location = store.locate(name);
      bytes = readObject(store, name, location, length);
    }
    return decode(bytes, entry, rowCount, location);
  }

  private static byte[] readObject(ByteSource store, String name, String location, long length)
      throws IOException {
    if (length > SIZE_LIMIT) {
      throw StoreException.corruption(location + " cannot have " + length + " bytes.", null);
    }
    try {
      return store.read(name, 0, (int) length);
    } catch (NoSuchFileException error) {
      throw StoreException.missing(location, error);
    }
  }

  private static DeletionVector decode(
      byte[] bytes, JsonNode entry, long rowCount, String location) throws IOException {
    long length = entry.get("check").get("length").longValue();
    if (bytes.length != length) {
      throw StoreException.corruption(
          location + " holds " + bytes.length + " bytes instead of " + length + ".", null);
    }
    if (Slice.of(bytes).crc32c() != entry.get("check").get("crc32c").longValue()) {
      throw StoreException.corruption(
          location + " is damaged: its bytes do not match their checksum.", null);
    }
    RoaringBitmap rows = new RoaringBitmap();
    try {
      rows.deserialize(ByteBuffer.wrap(bytes));
    } catch (RuntimeException | IOException error) {
      throw StoreException.corruption(location + " is not a Roaring bitmap.", error);
    }
    long cardinality = entry.get("cardinality").longValue();
    long found = rows.getLongCardinality();
    if (found != cardinality) {
      throw StoreException.corruption(
          location + " deletes " + found + " rows where the log says " + cardinality + ".", null);
    }
    long last = Integer.toUnsignedLong(rows.last());
    if (last >= rowCount) {
      throw StoreException.corruption(
          location + " deletes row " + last + " of a RowSet that has " + rowCount + " rows.",
          null);
    }
    if (!ascends(rows)) {
      throw StoreException.corruption(location + " is not a Roaring bitmap.", null);
    }
    return new DeletionVector(rows);
  }

  /**
   * Whether the rows are in order, and as many as the bitmap says. The library believes a bitmap
   * in both, and finds other rows than are there if it lies.
   */
  private static boolean ascends(RoaringBitmap rows) {
    BatchIterator iterator = rows.getBatchIterator();
    int[] batch = new int[4096];
    long before = -1;
    long found = 0;
    while (iterator.hasNext()) {
      int count = iterator.nextBatch(batch);
      for (int i = 0; i < count; i++) {
        long row = Integer.toUnsignedLong(batch[i]);
        if (row <= before) {
          return false;
        }
        before = row;
      }
      found += count;
    }
    return found == rows.getLongCardinality();
  }

  /** Returns how many rows are deleted from {@code firstRow} on and before {@code end}. */
  public long count(long firstRow, long end) {
    return rows.rangeCardinality(firstRow, end);
  }

  /** Returns the first deleted row from {@code firstRow} on. Requires: there is one. */
  public long next(long firstRow) {
    return rows.nextValue((int) firstRow);
  }

  /**
   * Returns the live rows among the {@code count} rows that begin at {@code firstRow}. The returned
   * row numbers are relative to {@code firstRow}.
   */
  public int[] kept(long firstRow, int count) {
    int[] kept = new int[count - (int) count(firstRow, firstRow + count)];
    PeekableIntIterator deleted = rows.getIntIterator();
    deleted.advanceIfNeeded((int) firstRow);
    int next = 0;
    for (int row = 0; row < count; row++) {
      if (deleted.hasNext() && deleted.peekNext() == (int) (firstRow + row)) {
        deleted.next();
      } else {
        kept[next++] = row;
      }
    }
    return kept;
  }
}
