package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.Bits;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.GrowingArrays;
import colonnade.write.refusals.Refusal;
import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/** Decimals of 19 to 38 digits, unscaled, as 16 little-endian bytes for each row. */
final class WideDecimals extends StagedBlobs {
  private static final int WIDTH = 16;

  private final int precision;
  private final int scale;
  private final BigInteger limit;
  private final long limitHigh;
  private final long limitLow;

  WideDecimals(TableField field, String path) {
    super(field, path);
    precision = field.precision();
    scale = field.scale();
    limit = BigInteger.TEN.pow(precision);
    limitHigh = limit.shiftRight(64).longValue();
    limitLow = limit.longValue();
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    bytes = GrowingArrays.withRoom(bytes, start(rows), WIDTH, path);
    if (from instanceof UnsafeRow || from instanceof UnsafeArrayData) {
      // UnsafeRow and UnsafeArrayData store more than 18 digits as the big-endian bytes of a
      // BigInteger.
      put(from.getBinary(ordinal));
    } else {
      put(
          from.getDecimal(ordinal, precision, scale)
              .toJavaBigDecimal()
              .unscaledValue()
              .toByteArray());
    }
  }

  private void put(byte[] bigEndian) {
    if (bigEndian.length > WIDTH) {
      throw misfit(path, field.type(), new BigInteger(bigEndian).toString());
    }
    int at = start(rows);
    Arrays.fill(bytes, at, at + WIDTH, (byte) (bigEndian[0] >> 7));
    for (int i = bigEndian.length - 1; i >= 0; i--) {
      bytes[at++] = bigEndian[i];
    }
  }

  @Override
  void appendSlot() {
    bytes = GrowingArrays.withRoom(bytes, start(rows), WIDTH, path);
    Arrays.fill(bytes, start(rows), start(rows) + WIDTH, (byte) 0);
  }

  @Override
  public int start(int row) {
    return row * WIDTH;
  }

  @Override
  public int end(int row) {
    return (row + 1) * WIDTH;
  }

  @Override
  int offsetBytes() {
    return 0;
  }

  @Override
  public int slotBytes() {
    return WIDTH;
  }

  @Override
  void checkValues() {
    for (int row = 0; row < rows; row++) {
      boolean negative = high(row) < 0;
      long high = negative ? ~high(row) : high(row);
      long low = negative ? ~low(row) : low(row);
      // The complement of a negative number is one less than its absolute value.
      int order = high != limitHigh ? Long.compare(high, limitHigh)
          : Long.compareUnsigned(low, negative ? limitLow - 1 : limitLow);
      if (order >= 0) {
        throw misfit(path, field.type(), value(row).toString());
      }
    }
  }

  /** Creates the error for an unscaled value with too many digits. */
  static RuntimeException misfit(String path, String type, String unscaled) {
    return Refusal.invalid(
        "Column " + ColumnNames.quote(path) + " has an invalid " + type + ": Decimal value "
            + unscaled + " does not fit in precision of "
            + type.replace("decimal", "decimal128").replace(",", ", ") + ".");
  }

  @Override
  void addValues(ArrowBatch batch, int from, int to) {
    int length = GrowingArrays.byteSize(to - from, WIDTH, path);
    System.arraycopy(bytes, start(from), batch.buffer(length), 0, length);
  }

  @Override
  void addDictionary(ArrowBatch batch, BytesDictionary values) {
    batch.node(values.count(), 0);
    batch.emptyBuffer();
    byte[] target = batch.buffer(values.count() * WIDTH);
    for (int id = 0; id < values.count(); id++) {
      System.arraycopy(bytes, start(values.firstRow(id)), target, id * WIDTH, WIDTH);
    }
  }

  @Override
  public Statistics measure(int from, int to, Dictionary<?> values) {
    int low = -1;
    int high = -1;
    for (int row = from; row < to; row++) {
      if (nulls.get(row)) {
        continue;
      }
      if (low < 0) {
        low = high = row;
      } else if (compareNumbers(row, low) < 0) {
        low = row;
      } else if (compareNumbers(row, high) > 0) {
        high = row;
      }
    }
    return new Statistics(
        nulls.count(from, to),
        0,
        new Bound.Whole(value(low)),
        new Bound.Whole(value(high)),
        true);
  }

  private int compareNumbers(int left, int right) {
    int order = Long.compare(high(left), high(right));
    return order != 0 ? order : Long.compareUnsigned(low(left), low(right));
  }

  private long high(int row) {
    return Bits.getLong(bytes, start(row) + 8);
  }

  private long low(int row) {
    return Bits.getLong(bytes, start(row));
  }

  private BigInteger value(int row) {
    byte[] bigEndian = new byte[WIDTH];
    for (int i = 0; i < WIDTH; i++) {
      bigEndian[i] = bytes[end(row) - 1 - i];
    }
    return new BigInteger(bigEndian);
  }

  @Override
  long hash(int row) {
    // A value that fits in a short decimal has the hash of that short decimal.
    return low(row) >> 63 == high(row)
        ? BloomFilter.hash(low(row))
        : BloomFilter.hash(bytes, start(row), end(row));
  }

  @Override
  public Comparable<?> sortValue(int row) {
    return nulls.get(row) ? null : value(row);
  }
}
