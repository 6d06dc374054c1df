package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.rowset.Statistics;

/** What encodings ask of integers, including decimals of at most 18 digits. */
final class Integers {
  private Integers() {}

  /** Returns the distinct values of rows, unless the narrowest integers take about as little. */
  static Dictionary<?> dictionary(StagedNumbers column, StagedRows rows) {
    int narrowed = column.narrowedWidth(rows);
    int width = narrowed == 0 ? column.width : narrowed;
    if (width == 1) {
      return null;
    }
    long rival = (long) rows.count() * width + (rows.nulls() > 0 ? rows.count() + 7 >> 3 : 0);
    String limit = width > 2 ? "distinct_numbers" : "distinct_shorts";
    double share = rows.encoder().choices().limit(Encoding.DICTIONARY, limit);
    LongDictionary dictionary = rows.encoder().longDictionary();
    boolean smaller = dictionary.build(column, rows.from(), rows.to(), share, rival);
    return smaller ? dictionary : null;
  }

  /** Returns the bytes of a narrowed value, or 0 if the values keep their full width. */
  static int narrowedWidth(StagedNumbers column, StagedRows rows) {
    long distance = whole(rows.statistics().high()) - low(rows.statistics());
    // Arrow stores these decimals in 16 bytes, but they are integers of 8 bytes.
    int integerWidth = Math.min(column.width, 8);
    for (int width = 1; width < integerWidth && width <= 4; width *= 2) {
      if (Long.compareUnsigned(distance, 1L << 8 * width) < 0) {
        return width;
      }
    }
    return column.width == 16 ? 8 : 0;
  }

  /** Returns the least value. Requires: the statistics are of integers, not all of them NULL. */
  static long low(Statistics statistics) {
    return whole(statistics.low());
  }

  private static long whole(Bound bound) {
    return ((Bound.Whole) bound).value().longValue();
  }

  static Statistics measure(StagedNumbers column, StagedRows rows) {
    long[] values = column.values;
    int from = rows.from();
    int to = rows.to();
    long low = Long.MAX_VALUE;
    long high = Long.MIN_VALUE;
    if (rows.nulls() == 0) {
      for (int row = from; row < to; row++) {
        low = Math.min(low, values[row]);
        high = Math.max(high, values[row]);
      }
    } else {
      for (int row = from; row < to; row++) {
        if (!column.nulls.get(row)) {
          low = Math.min(low, values[row]);
          high = Math.max(high, values[row]);
        }
      }
    }
    return new Statistics(rows.nulls(), 0, Bound.Whole.of(low), Bound.Whole.of(high), true);
  }
}
