package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.Statistics;

/** Chooses the encoding of integers, including decimals of at most 18 digits. */
final class Integers {
  private Integers() {}

  /**
   * Encodes rows that are not all NULL. Chooses between constant, a dictionary, and the fewest
   * bytes that hold the distance from the smallest value.
   */
  static EncodedBlock encode(BlockEncoder encoder, StagedNumbers column, int from, int to) {
    int nullCount = column.nulls.count(from, to);
    Statistics statistics = measure(column, from, to, nullCount);
    long low = ((Bound.Whole) statistics.low()).value().longValue();
    long high = ((Bound.Whole) statistics.high()).value().longValue();
    if (low == high && nullCount == 0) {
      return encoder.constant(column, from, to, statistics);
    }
    int width = narrowedWidth(column, low, high);
    int streamWidth = width == 0 ? column.width : width;
    int rows = to - from;
    if (streamWidth > 1) {
      long rival = (long) rows * streamWidth + (nullCount > 0 ? rows + 7 >> 3 : 0);
      EncodingChoices choices = encoder.choices();
      double share = streamWidth > 2 ? choices.distinctNumbers() : choices.distinctShorts();
      LongDictionary dictionary = encoder.longDictionary();
      if (dictionary.build(column, from, to, share, rival)) {
        return encoder.dictionary(column, from, to, statistics, dictionary);
      }
    }
    if (width == 0) {
      return encoder.plain(column, from, to, statistics);
    }
    return encoder.narrowed(column, from, to, statistics, width, width == 8 ? 0 : low);
  }

  /** Returns the bytes of a narrowed value, or 0 if the values keep their full width. */
  private static int narrowedWidth(StagedNumbers column, long low, long high) {
    // Arrow stores these decimals in 16 bytes, but they are integers of 8 bytes.
    int integerWidth = Math.min(column.width, 8);
    for (int width = 1; width < integerWidth && width <= 4; width *= 2) {
      if (Long.compareUnsigned(high - low, 1L << 8 * width) < 0) {
        return width;
      }
    }
    return column.width == 16 ? 8 : 0;
  }

  private static Statistics measure(StagedNumbers column, int from, int to, int nullCount) {
    long[] values = column.values;
    long low = Long.MAX_VALUE;
    long high = Long.MIN_VALUE;
    if (nullCount == 0) {
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
    return new Statistics(nullCount, 0, Bound.Whole.of(low), Bound.Whole.of(high), true);
  }
}
