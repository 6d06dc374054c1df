package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.Statistics;

/** Chooses the encoding of floats and doubles: constant, a dictionary of bits, or plain. */
final class FloatingPoint {
  private FloatingPoint() {}

  /** Encodes rows that are not all NULL. */
  static EncodedBlock encode(BlockEncoder encoder, StagedNumbers column, int from, int to) {
    Statistics statistics = measure(column, from, to);
    if (isConstant(column, from, to, statistics)) {
      return encoder.constant(column, from, to, statistics);
    }
    LongDictionary dictionary = encoder.longDictionary();
    long rival = column.sizeBytes(from, to);
    return dictionary.build(column, from, to, encoder.choices().distinctNumbers(), rival)
        ? encoder.dictionary(column, from, to, statistics, dictionary)
        : encoder.plain(column, from, to, statistics);
  }

  static double value(StagedNumbers column, int row) {
    long bits = column.values[row];
    return column.width == 4 ? Float.intBitsToFloat((int) bits) : Double.longBitsToDouble(bits);
  }

  /** NaN as the greatest value and the zeros as one: the order of {@code Double} does the rest. */
  static Double sortValue(double value) {
    return value == 0 ? 0.0 : value;
  }

  private static Statistics measure(StagedNumbers column, int from, int to) {
    int nullCount = column.nulls.count(from, to);
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
  private static boolean isConstant(
      StagedNumbers column, int from, int to, Statistics statistics) {
    if (statistics.low() == null
        || statistics.low().compare(statistics.high()) != 0
        || statistics.nulls() + statistics.nans() > 0) {
      return false;
    }
    for (int row = from + 1; row < to; row++) {
      if (column.values[row] != column.values[from]) {
        return false;
      }
    }
    return true;
  }
}
