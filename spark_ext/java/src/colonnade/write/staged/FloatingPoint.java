package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.rowset.Statistics;

/** What encodings ask of floats and doubles, whose dictionaries and constants are of bits. */
final class FloatingPoint {
  private FloatingPoint() {}

  /** Returns the distinct bits of rows; null where a dictionary is not clearly smaller. */
  static Dictionary<?> dictionary(StagedNumbers column, StagedRows rows) {
    double share = rows.encoder().choices().limit(Encoding.DICTIONARY, "distinct_numbers");
    LongDictionary dictionary = rows.encoder().longDictionary();
    boolean smaller = dictionary.build(column, rows.from(), rows.to(), share, rows.size());
    return smaller ? dictionary : null;
  }

  static double value(StagedNumbers column, int row) {
    long bits = column.values[row];
    return column.width == 4 ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
  }

  /** NaN as the greatest value and the zeros as one: the order of {@code Double} does the rest. */
  static Double sortValue(double value) {
    return value == 0 ? 0.0 : value;
  }

  static Statistics measure(StagedNumbers column, StagedRows rows) {
    int from = rows.from();
    int to = rows.to();
    int nullCount = rows.nulls();
    int nans = 0;
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (int row = from; row < to; row++) {
      double value = value(column, row);
      if (nullCount > 0 && column.nulls.get(row)) {
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

  /** Whether all rows have the same bits. 0.0 and -0.0 compare as equal but have different bits. */
  static boolean isConstant(StagedNumbers column, StagedRows rows) {
    Statistics statistics = rows.statistics();
    if (statistics.low() == null
        || statistics.low().compare(statistics.high()) != 0
        || statistics.nulls() + statistics.nans() > 0) {
      return false;
    }
    int to = rows.to();
    long first = column.values[rows.from()];
    for (int row = rows.from() + 1; row < to; row++) {
      if (column.values[row] != first) {
        return false;
      }
    }
    return true;
  }
}
