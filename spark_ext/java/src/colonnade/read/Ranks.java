package colonnade.read;

import colonnade.format.Bound;
import colonnade.format.Interval;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The places of the values of a column among some bounds.
 *
 * <p>The bounds have the ranks 1, 3, 5 and so on in their order. A value between two bounds has the
 * even rank between theirs. So an interval between two of the bounds is a range of ranks, whatever
 * the type of the column.
 */
abstract class Ranks {
  /** The rank of NULL and of NaN, which no interval has. */
  static final int NONE = -1;

  private final Map<String, Bound> parsed;
  private final Bound[] bounds;

  private Ranks(Map<String, Bound> parsed) {
    this.parsed = parsed;
    TreeSet<Bound> ascending = new TreeSet<>(Bound::compare);
    ascending.addAll(parsed.values());
    bounds = ascending.toArray(Bound[]::new);
  }

  /**
   * Returns the ranks of a column among the bounds of intervals.
   *
   * @throws Malformed if the column cannot have one of the bounds
   */
  static Ranks of(TableField column, List<Interval> intervals) throws Malformed {
    Map<String, Bound> parsed = new HashMap<>();
    for (Interval each : intervals) {
      for (String bound : Arrays.asList(each.low(), each.high())) {
        if (bound != null) {
          parsed.put(bound, Bound.parse(bound, column.order()));
        }
      }
    }
    return switch (column.order()) {
      case INTEGER -> new Wholes(parsed, column.kind() == TableField.Kind.BOOLEAN);
      case FLOAT -> new Reals(parsed, column.kind() == TableField.Kind.FLOAT32);
      case DECIMAL -> new Decimals(parsed);
      case STRING, BINARY -> new Texts(parsed);
      case NONE -> throw new Malformed("values of type " + column.type() + " have no order");
    };
  }

  /** Returns the lowest rank of the values inside an interval, one of those given before. */
  final int lowest(Interval interval) {
    String low = interval.low();
    return low == null ? 0 : rank(parsed.get(low)) + (interval.lowOpen() ? 1 : 0);
  }

  /** Returns the highest rank of the values inside an interval, one of those given before. */
  final int highest(Interval interval) {
    String high = interval.high();
    return high == null ? greatest() : rank(parsed.get(high)) - (interval.highOpen() ? 1 : 0);
  }

  /** Returns the bounds in their order, without repeats. */
  final Stream<Bound> bounds() {
    return Arrays.stream(bounds);
  }

  /** Returns the greatest rank. */
  final int greatest() {
    return 2 * bounds.length;
  }

  /** Returns the rank of a value in the form of a bound. */
  final int rank(Bound value) {
    int low = 0;
    int high = bounds.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int sign = value.compare(bounds[middle]);
      if (sign == 0) {
        return 2 * middle + 1;
      }
      low = sign > 0 ? middle + 1 : low;
      high = sign > 0 ? high : middle;
    }
    return 2 * low;
  }

  /** Writes the ranks of the first {@code count} rows of a vector. */
  final void rank(ColonnadeVector vector, int count, int[] ranks) {
    int last = 0;
    for (int row = 0; row < count; row++) {
      if (isMissing(vector, row)) {
        ranks[row] = NONE;
      } else {
        // Neighbouring rows often have the same rank.
        last = hasRank(vector, row, last) ? last : search(vector, row);
        ranks[row] = last;
      }
    }
  }

  private boolean hasRank(ColonnadeVector vector, int row, int rank) {
    int at = rank >> 1;
    if ((rank & 1) == 1) {
      return compare(vector, row, at) == 0;
    }
    return (at == 0 || compare(vector, row, at - 1) > 0)
        && (at == bounds.length || compare(vector, row, at) < 0);
  }

  private int search(ColonnadeVector vector, int row) {
    int low = 0;
    int high = bounds.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int sign = compare(vector, row, middle);
      if (sign == 0) {
        return 2 * middle + 1;
      }
      low = sign > 0 ? middle + 1 : low;
      high = sign > 0 ? high : middle;
    }
    return 2 * low;
  }

  /** Whether a row is NULL or NaN. */
  boolean isMissing(ColonnadeVector vector, int row) {
    return vector.isNullAt(row);
  }

  /** Compares the value of a row with a bound. */
  abstract int compare(ColonnadeVector vector, int row, int bound);

  private static final class Wholes extends Ranks {
    private final long[] values;
    private final boolean isBoolean;

    Wholes(Map<String, Bound> parsed, boolean isBoolean) {
      super(parsed);
      values = bounds().mapToLong(each -> ((Bound.Whole) each).value().longValueExact()).toArray();
      this.isBoolean = isBoolean;
    }

    @Override
    int compare(ColonnadeVector vector, int row, int bound) {
      long value = !isBoolean ? vector.getLong(row) : vector.getBoolean(row) ? 1 : 0;
      return Long.compare(value, values[bound]);
    }
  }

  private static final class Reals extends Ranks {
    private final double[] values;
    private final boolean isFloat;

    Reals(Map<String, Bound> parsed, boolean isFloat) {
      super(parsed);
      values = bounds().mapToDouble(each -> ((Bound.Real) each).value()).toArray();
      this.isFloat = isFloat;
    }

    private double value(ColonnadeVector vector, int row) {
      return isFloat ? vector.getFloat(row) : vector.getDouble(row);
    }

    @Override
    boolean isMissing(ColonnadeVector vector, int row) {
      return vector.isNullAt(row) || Double.isNaN(value(vector, row));
    }

    @Override
    int compare(ColonnadeVector vector, int row, int bound) {
      double value = value(vector, row);
      return value < values[bound] ? -1 : value > values[bound] ? 1 : 0;
    }
  }

  private static final class Decimals extends Ranks {
    private final BigInteger[] values;

    Decimals(Map<String, Bound> parsed) {
      super(parsed);
      values = bounds().map(each -> ((Bound.Whole) each).value()).toArray(BigInteger[]::new);
    }

    @Override
    int compare(ColonnadeVector vector, int row, int bound) {
      return vector.getUnscaled(row).compareTo(values[bound]);
    }
  }

  private static final class Texts extends Ranks {
    private final UTF8String[] values;

    Texts(Map<String, Bound> parsed) {
      super(parsed);
      values = bounds().map(Texts::text).toArray(UTF8String[]::new);
    }

    private static UTF8String text(Bound bound) {
      return bound instanceof Bound.Raw raw
          ? UTF8String.fromBytes(raw.value())
          : ((Bound.Text) bound).value();
    }

    @Override
    int compare(ColonnadeVector vector, int row, int bound) {
      return vector.getUTF8String(row).compareTo(values[bound]);
    }
  }
}
