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
  Statistics measureValues(StagedRows rows) {
    int nullCount = rows.nulls();
    int nans = 0;
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    int to = rows.to();
    for (int row = rows.from(); row < to; row++) {
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
    if (nullCount + nans == rows.count()) {
      return Statistics.unbounded(nullCount, nans, true);
    }
    return new Statistics(nullCount, nans, new Bound.Real(low), new Bound.Real(high), true);
  }

  /** Whether all rows have the same bits. 0.0 and -0.0 compare as equal but have different bits. */
  @Override
  boolean isConstant(StagedRows rows) {
    Statistics statistics = rows.statistics();
    if (statistics.low() == null
        || statistics.low().compare(statistics.high()) != 0
        || statistics.nulls() + statistics.nans() > 0) {
      return false;
    }
    int to = rows.to();
    long first = values[rows.from()];
    for (int row = rows.from() + 1; row < to; row++) {
      if (values[row] != first) {
        return false;
      }
    }
    return true;
  }

  @Override
  Dictionary<?> dictionary(StagedRows rows) {
    return dictionary(rows, "distinct_numbers", rows.size());
  }

  @Override
  int narrowedWidth(StagedRows rows) {
    return 0;
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
