package colonnade.write.staged;

import colonnade.format.ArrowBatch;
import colonnade.format.ArrowField;
import colonnade.format.BloomFilter;
import colonnade.format.NullMask;
import colonnade.format.Statistics;
import colonnade.format.TableField;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/**
 * Rows of one column or nested field on the heap, from the row that arrives to the block.
 *
 * <p>Slots under a NULL hold zeros, or nothing where values have variable length. A field of a
 * struct has a slot for each struct, which is NULL where the struct is.
 */
public abstract class Staged {
  public final TableField field;

  /** How errors name the column: the dotted path. */
  final String path;

  final NullMask nulls = new NullMask();
  int rows;

  Staged(TableField field, String path) {
    this.field = field;
    this.path = path;
  }

  /** Append the value of a row, a struct or an array. */
  public final void append(SpecializedGetters from, int ordinal) {
    if (from.isNullAt(ordinal)) {
      appendNull();
    } else {
      appendValue(from, ordinal);
      rows++;
    }
  }

  /** Append the values that a column of Spark's rows has. */
  public void appendAll(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      append(source.row(i), ordinal);
    }
  }

  /** Append NULL. */
  final void appendNull() {
    nulls.set(rows);
    appendSlot();
    rows++;
  }

  /** Append a value that is not NULL; {@code rows} does not count it yet. */
  abstract void appendValue(SpecializedGetters from, int ordinal);

  /** Append the slot under a NULL; {@code rows} does not count it yet. */
  abstract void appendSlot();

  /** Forget all rows and keep the memory. */
  public void clear() {
    rows = 0;
    nulls.clear();
  }

  /**
   * Refuse values that break a promise of the field. Requires: no {@link #invalidText}.
   *
   * @param hidden how many of the NULLs stand under a NULL struct, and so do not count
   * @throws org.apache.spark.sql.AnalysisException that names the column
   */
  public final void check(int hidden) {
    int missing = nulls.count() - hidden;
    if (!field.nullable() && missing > 0) {
      throw Refusal.invalid(
          "Column " + Names.quote(path) + " is NOT NULL, but the data has " + missing
              + " NULL.");
    }
    checkValues();
  }

  /** The first value, here or in a nested field, that should be text and is not valid UTF-8; or null. */
  public InvalidText invalidText() {
    return null;
  }

  /** Refuse values other than NULL; nested fields are checked here too. */
  abstract void checkValues();

  /** What rows take as Arrow buffers, in bytes, without padding. */
  public final long sizeBytes(int from, int to) {
    return valueBytes(from, to) + (nulls.count(from, to) > 0 ? to - from + 7 >> 3 : 0);
  }

  /** What a row takes while it is staged, in bytes, but for what has variable length. */
  public abstract int slotBytes();

  /** What the values of rows take without the validity bitmap. */
  abstract long valueBytes(int from, int to);

  /** The field as a plain block states it. */
  abstract ArrowField arrow();

  /** Add the rows as a plain Arrow array. */
  final void addPlain(ArrowBatch batch, int from, int to) {
    int nullCount = nulls.count(from, to);
    batch.node(to - from, nullCount);
    addValidity(batch, from, to, nullCount);
    addValues(batch, from, to);
  }

  /** Add the validity bitmap of a range, or its absence. */
  final void addValidity(ArrowBatch batch, int from, int to, int nullCount) {
    if (nullCount == 0) {
      batch.emptyBuffer();
    } else {
      nulls.writeValidity(from, to, batch.buffer(to - from + 7 >> 3));
    }
  }

  /** Add the buffers behind the validity bitmap, and the arrays of nested fields. */
  abstract void addValues(ArrowBatch batch, int from, int to);

  /** Encode rows that are not all NULL. */
  EncodedBlock encode(BlockEncoder encoder, int from, int to) {
    Statistics statistics = Statistics.unbounded(nulls.count(from, to), 0, false);
    return encoder.plain(this, from, to, statistics);
  }

  /** The Bloom filter of rows; NULL and NaN are not in it. Requires: a type that has filters. */
  public final byte[] bloomFilter(int from, int to) {
    long[] hashes = new long[to - from];
    int count = 0;
    for (int row = from; row < to; row++) {
      if (!nulls.get(row) && !isNan(row)) {
        hashes[count++] = hash(row);
      }
    }
    return BloomFilter.encode(hashes, count);
  }

  /** The hash of a row's value, which is neither NULL nor NaN. */
  long hash(int row) {
    throw new IllegalStateException("No filter holds values of " + field.type());
  }

  /** Whether a row that is not NULL holds NaN. */
  boolean isNan(int row) {
    return false;
  }

  /**
   * The value of a row as a sort key compares it; null for NULL.
   *
   * <p>Requires: a type that has an order.
   */
  public Comparable<?> sortValue(int row) {
    throw new IllegalStateException("No table is sorted by " + field.type());
  }

  /** The name that blocks give the field. */
  final String storageName() {
    return Integer.toString(field.id());
  }
}
