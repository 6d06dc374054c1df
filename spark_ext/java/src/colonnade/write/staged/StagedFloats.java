package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** The bits of floats and doubles. Dictionaries and constants are of bits, and bounds of values. */
final class StagedFloats extends StagedNumbers {
  StagedFloats(TableField field, String path, int width) {
    super(field, path, width);
  }

  @Override
  long read(SpecializedGetters from, int ordinal) {
    return width == 4
        ? Float.floatToRawIntBits(from.getFloat(ordinal))
        : Double.doubleToRawLongBits(from.getDouble(ordinal));
  }

  private double value(int row) {
    long bits = values[row];
    return width == 4 ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
  }

  @Override
  public Statistics measure(int from, int to, Dictionary<?> distinct) {
    int nullCount = nulls.count(from, to);
    int nans = 0;
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (int row = from; row < to; row++) {
      double value = value(row);
      if (nullCount > 0 && nulls.get(row)) {
        continue;
      }
      if (value != value) {
        nans++;
        continue;
      }
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    if (nullCount + nans == to - from) {
      return Statistics.unbounded(nullCount, nans, true);
    }
    return new Statistics(nullCount, nans, new Bound.Real(low), new Bound.Real(high), true);
  }

  /** NaN as the greatest value and the zeros as one: the order of {@code Double} does the rest. */
  @Override
  public Comparable<?> sortValue(int row) {
    double value = value(row);
    return nulls.get(row) ? null : Double.valueOf(value == 0 ? 0.0 : value);
  }

  @Override
  long hash(int row) {
    return BloomFilter.hash(value(row));
  }

  @Override
  boolean isNan(int row) {
    return Double.isNaN(value(row));
  }
}
