package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.GrowingArrays;
import colonnade.write.refusals.Refusal;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Integers of at most 64 bits, or the bits of floats, staged as one long for each row. */
public abstract class StagedNumbers extends Staged {
  /** The width of a value in Arrow's storage type, in bytes. */
  public final int width;

  public long[] values = new long[1024];

  StagedNumbers(TableField field, String path, int width) {
    super(field, path);
    this.width = width;
  }

  /** Returns the value as a long. */
  abstract long read(SpecializedGetters from, int ordinal);

  /** Returns the width of a value in Spark's rows, in bytes. */
  int rowBytes() {
    return width;
  }

  @Override
  public final void appendAll(RowBuffer source, int ordinal) {
    values = GrowingArrays.withSlot(values, rows + source.rows(), path);
    switch (rowBytes()) {
      case 1 -> appendBytes(source, ordinal);
      case 2 -> appendShorts(source, ordinal);
      case 4 -> appendInts(source, ordinal);
      default -> appendLongs(source, ordinal);
    }
  }

  // The loop is repeated so that the JIT compiler inlines the one read method that each copy calls.

  private void appendBytes(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i, ordinal)) {
        appendNull();
      } else {
        values[rows++] = source.getByte(i, ordinal);
      }
    }
  }

  private void appendShorts(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i, ordinal)) {
        appendNull();
      } else {
        values[rows++] = source.getShort(i, ordinal);
      }
    }
  }

  private void appendInts(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i, ordinal)) {
        appendNull();
      } else {
        values[rows++] = source.getInt(i, ordinal);
      }
    }
  }

  private void appendLongs(RowBuffer source, int ordinal) {
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i, ordinal)) {
        appendNull();
      } else {
        values[rows++] = source.getLong(i, ordinal);
      }
    }
  }

  @Override
  final void appendValue(SpecializedGetters from, int ordinal) {
    values = GrowingArrays.withSlot(values, rows, path);
    values[rows] = read(from, ordinal);
  }

  @Override
  final void appendSlot() {
    values = GrowingArrays.withSlot(values, rows, path);
    values[rows] = 0;
  }

  @Override
  void checkValues() {}

  @Override
  public int slotBytes() {
    return Long.BYTES;
  }

  @Override
  final long valueBytes(int from, int to) {
    return (long) (to - from) * width;
  }

  @Override
  final void addValues(ArrowBatch batch, int from, int to) {
    byte[] words = batch.buffer(GrowingArrays.byteSize(to - from, width, path));
    Words.write(values, from, to, 0, width, words);
  }

  @Override
  public Statistics measure(int from, int to, Dictionary<?> distinct) {
    long[] numbers = values;
    int nullCount = nulls.count(from, to);
    long low = Long.MAX_VALUE;
    long high = Long.MIN_VALUE;
    if (nullCount == 0) {
      for (int row = from; row < to; row++) {
        low = Math.min(low, numbers[row]);
        high = Math.max(high, numbers[row]);
      }
    } else {
      for (int row = from; row < to; row++) {
        if (!nulls.get(row)) {
          low = Math.min(low, numbers[row]);
          high = Math.max(high, numbers[row]);
        }
      }
    }
    return new Statistics(nullCount, 0, Bound.Whole.of(low), Bound.Whole.of(high), true);
  }

  /** Returns the distinct values of rows, unless the narrowest integers take about as little. */
  /** Whether all of some rows have the same bits. */
  public final boolean isSame(int from, int to) {
    for (int row = from + 1; row < to; row++) {
      if (values[row] != values[from]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public Comparable<?> sortValue(int row) {
    return nulls.get(row) ? null : Long.valueOf(values[row]);
  }

  @Override
  long hash(int row) {
    return BloomFilter.hash(values[row]);
  }

  /** Refuses values that are not a multiple of the field's unit. */
  final void checkUnits(String storedUnit) {
    long unit = field.unit();
    if (unit != 1 && Arrays.stream(values, 0, rows).anyMatch(value -> value % unit != 0)) {
      refuseFirst(storedUnit, value -> value % unit != 0);
    }
  }

  /** Refuses the first value that meets the condition {@code wrong}. */
  final void refuseFirst(String storedUnit, java.util.function.LongPredicate wrong) {
    Arrays.stream(values, 0, rows)
        .filter(wrong)
        .findFirst()
        .ifPresent(
            value -> {
              throw Refusal.invalid(
                  "Column " + ColumnNames.quote(path) + " is " + field.type()
                      + ", which cannot hold " + value + " " + storedUnit
                      + "; change the value, or the type of the column.");
            });
  }

  /** {@code byte}. */
  static final class Bytes extends StagedNumbers {
    Bytes(TableField field, String path) {
      super(field, path, 1);
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      return from.getByte(ordinal);
    }
  }

  /** {@code short}. */
  static final class Shorts extends StagedNumbers {
    Shorts(TableField field, String path) {
      super(field, path, 2);
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      return from.getShort(ordinal);
    }
  }

  /** {@code int}, {@code date}, and year-month intervals. */
  static final class Ints extends StagedNumbers {
    Ints(TableField field, String path) {
      super(field, path, 4);
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      return from.getInt(ordinal);
    }

    @Override
    void checkValues() {
      checkUnits("months");
    }
  }

  /** {@code long}, timestamps, and day-time intervals. */
  static final class Longs extends StagedNumbers {
    Longs(TableField field, String path) {
      super(field, path, 8);
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      return from.getLong(ordinal);
    }

    @Override
    void checkValues() {
      checkUnits("microseconds");
    }
  }

  /** {@code time(p)}. */
  static final class Times extends StagedNumbers {
    private static final long DAY_NS = 86_400_000_000_000L;

    Times(TableField field, String path) {
      super(field, path, 8);
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      return from.getLong(ordinal);
    }

    @Override
    void checkValues() {
      long unit = field.unit();
      refuseFirst("nanoseconds", v -> v % unit != 0 || v < 0 || v >= DAY_NS);
    }
  }

  /** Decimals of at most 18 digits, unscaled. */
  static final class Decimals extends StagedNumbers {
    private final int precision;
    private final int scale;
    private final long limit;

    Decimals(TableField field, String path) {
      super(field, path, 16);
      precision = field.precision();
      scale = field.scale();
      limit = Math.round(Math.pow(10, precision));
    }

    @Override
    int rowBytes() {
      return 8;
    }

    @Override
    long read(SpecializedGetters from, int ordinal) {
      if (from instanceof UnsafeRow || from instanceof UnsafeArrayData) {
        // UnsafeRow and UnsafeArrayData store up to 18 digits as an unscaled long.
        return from.getLong(ordinal);
      }
      return from.getDecimal(ordinal, precision, scale).toUnscaledLong();
    }

    @Override
    void checkValues() {
      for (int row = 0; row < rows; row++) {
        if (values[row] >= limit || values[row] <= -limit) {
          throw WideDecimals.misfit(path, field.type(), Long.toString(values[row]));
        }
      }
    }
  }
}
