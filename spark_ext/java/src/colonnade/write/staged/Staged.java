package colonnade.write.staged;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.NullMask;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.GrowingArrays;
import colonnade.write.refusals.InvalidText;
import colonnade.write.refusals.Refusal;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/**
 * The staged rows of one column or nested field, on the heap, until they are encoded as a block.
 *
 * <p>A slot under a NULL holds zeros, or nothing if values have variable length. A field of a
 * struct has a slot for each struct. The slot is NULL if the struct is NULL.
 */
public abstract class Staged {
  public final TableField field;

  /** The name of the column in errors: its dotted path. */
  public final String path;

  public final NullMask nulls = new NullMask();
  int rows;

  Staged(TableField field, String path) {
    this.field = field;
    this.path = path;
  }

  /** Appends a value of a row, a struct or an array. */
  public final void append(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNull();
    } else {
      appendValue(from, ordinal);
      rows++;
    }
  }

  /** Appends the values of one column of buffered rows. */
  public void appendAll(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      append(source.row(i), ordinal);
    }
  }

  /** Appends NULL. */
  final void appendNull() {
    nulls.set(rows);
    appendSlot();
    rows++;
  }

  /** Appends a value other than NULL. {@code rows} does not count it yet. */
  abstract void appendValue(SpecializedGetters from, int ordinal);

  /** Appends the slot of a NULL. {@code rows} does not count it yet. */
  abstract void appendSlot();

  /** Removes all rows and keeps the memory. */
  public void clear() {
    rows = 0;
    nulls.clear();
  }

  /**
   * Refuses values that violate a constraint of the field. Requires: {@link #invalidText} returns
   * null.
   *
   * @param hidden the number of NULLs under a NULL struct, which do not violate NOT NULL
   * @throws org.apache.spark.sql.AnalysisException naming the column
   */
  public final void check(int hidden) {
    int missing = nulls.count() - hidden;
    if (!field.nullable() && missing > 0) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(path) + " is NOT NULL, but the data has " + missing
              + " NULL; give a value in each row.");
    }
    checkValues();
  }

  /** Returns the first string here or in a nested field that is not valid UTF-8, or null. */
  public InvalidText invalidText() {
    return null;
  }

  /** Refuses invalid values other than NULL, here and in nested fields. */
  abstract void checkValues();

  /** Returns the size of rows as Arrow buffers in bytes, without padding. */
  public final long sizeBytes(int from, int to) {
    return valueBytes(from, to) + (nulls.count(from, to) > 0 ? to - from + 7 >> 3 : 0);
  }

  /** Returns the size of a staged row in bytes, excluding values of variable length. */
  public abstract int slotBytes();

  /** Returns the size of the values of rows in bytes, without the validity bitmap. */
  abstract long valueBytes(int from, int to);

  /** Adds the rows as a plain Arrow array. */
  public final void addPlain(ArrowBatch batch, int from, int to) {
    begin(batch, from, to);
    addValues(batch, from, to);
  }

  /**
   * Adds the rows as an Arrow array with values of {@code width} bytes. Returns their buffer, which
   * the caller must fill.
   */
  public final byte[] addWords(ArrowBatch batch, int from, int to, int width) {
    begin(batch, from, to);
    return batch.buffer(GrowingArrays.byteSize(to - from, width, path));
  }

  /** Begins an array with its validity bitmap, or with an empty buffer if no row is NULL. */
  private void begin(ArrowBatch batch, int from, int to) {
    int nullCount = nulls.count(from, to);
    batch.node(to - from, nullCount);
    if (nullCount == 0) {
      batch.emptyBuffer();
    } else {
      nulls.writeValidity(from, to, batch.buffer(to - from + 7 >> 3));
    }
  }

  /** Adds the buffers after the validity bitmap, and the arrays of nested fields. */
  abstract void addValues(ArrowBatch batch, int from, int to);

  /**
   * Returns the statistics of rows that are not all NULL. {@code distinct} has their distinct
   * values, or is null if these are unknown.
   */
  public Statistics measure(int from, int to, Dictionary<?> distinct) {
    return Statistics.unbounded(nulls.count(from, to), 0, false);
  }

  /**
   * Returns the Bloom filter of rows, without NULL and NaN, with {@code bitsPerValue} bits for each
   * distinct value. Requires: the type has filters.
   */
  public final byte[] bloomFilter(int from, int to, int bitsPerValue) {
    long[] hashes = new long[to - from];
    int count = 0;
    for (int row = from; row < to; row++) {
      if (!nulls.get(row) && !isNan(row)) {
        hashes[count++] = hash(row);
      }
    }
    return BloomFilter.encode(hashes, count, bitsPerValue);
  }

  /** Returns the hash of a row's value. Requires: the value is neither NULL nor NaN. */
  long hash(int row) {
    throw new IllegalStateException("No filter holds values of " + field.type());
  }

  /** Whether a row holds NaN. Requires: the row is not NULL. */
  boolean isNan(int row) {
    return false;
  }

  /**
   * Returns the value of a row as a sort key compares it; null for NULL.
   *
   * <p>Requires: the type has an order.
   */
  public Comparable<?> sortValue(int row) {
    throw new IllegalStateException("No table is sorted by " + field.type());
  }

}
