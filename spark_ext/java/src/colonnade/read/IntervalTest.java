package colonnade.read;

import colonnade.format.Bound;
import colonnade.format.Interval;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.rowset.Statistics;
import java.math.BigInteger;
import java.util.BitSet;
import org.apache.spark.unsafe.types.UTF8String;

/** Tells which values of a column are inside an interval, from bounds or row by row. */
abstract class IntervalTest {
  private final Interval interval;
  private final Bound low;
  private final Bound high;

  private IntervalTest(Interval interval, Bound low, Bound high) {
    this.interval = interval;
    this.low = low;
    this.high = high;
  }

  /**
   * Returns the test of an interval.
   *
   * @throws Malformed if its column cannot have one of the bounds
   */
  static IntervalTest of(Interval interval) throws Malformed {
    TableField column = interval.column();
    try {
      Bound low = parse(interval.low(), column);
      Bound high = parse(interval.high(), column);
      return switch (column.order()) {
        case INTEGER -> new Wholes(interval, low, high);
        case FLOAT -> new Reals(interval, low, high);
        case DECIMAL -> new Decimals(interval, low, high);
        case STRING, BINARY -> new Texts(interval, low, high);
        case NONE -> throw new Malformed("values of type " + column.type() + " have no order");
      };
    } catch (Malformed error) {
      throw new Malformed("column '" + column.name() + "': " + error.getMessage(), error);
    }
  }

  private static Bound parse(String bound, TableField column) throws Malformed {
    return bound == null ? null : Bound.parse(bound, column);
  }

  /** Whether some of {@code rows} rows may be inside. Unknown statistics are null. */
  final boolean meets(Statistics known, long rows) {
    if (known == null) {
      return true;
    }
    if (known.nulls() + known.nans() >= rows) {
      return false;
    }
    return known.low() == null || isAboveLow(known.high()) && isBelowHigh(known.low());
  }

  /** Whether all rows of a stretch are inside. Unknown statistics are null. */
  final boolean contains(Statistics known) {
    return known != null
        && known.low() != null
        && known.nulls() + known.nans() == 0
        && isAboveLow(known.low())
        && isBelowHigh(known.high());
  }

  private boolean isAboveLow(Bound value) {
    return low == null || isInside(value.compare(low), interval.lowOpen());
  }

  private boolean isBelowHigh(Bound value) {
    return high == null || isInside(high.compare(value), interval.highOpen());
  }

  private static boolean isInside(int sign, boolean open) {
    return open ? sign > 0 : sign >= 0;
  }

  /** Clears the rows of a vector that are not inside. */
  final void keep(ColonnadeVector vector, BitSet rows) {
    for (int row = rows.nextSetBit(0); row >= 0; row = rows.nextSetBit(row + 1)) {
      boolean inside =
          !isMissing(vector, row)
              && (low == null || isInside(compareWithLow(vector, row), interval.lowOpen()))
              && (high == null || isInside(-compareWithHigh(vector, row), interval.highOpen()));
      if (!inside) {
        rows.clear(row);
      }
    }
  }

  /** Whether a row is NULL or NaN. */
  boolean isMissing(ColonnadeVector vector, int row) {
    return vector.isNullAt(row);
  }

  /** Compares the value of a row with the lower bound, which exists. */
  abstract int compareWithLow(ColonnadeVector vector, int row);

  /** Compares the value of a row with the upper bound, which exists. */
  abstract int compareWithHigh(ColonnadeVector vector, int row);

  private static final class Wholes extends IntervalTest {
    private final long least;
    private final long most;
    private final boolean isBoolean;

    Wholes(Interval interval, Bound low, Bound high) {
      super(interval, low, high);
      least = low == null ? Long.MIN_VALUE : ((Bound.Whole) low).value().longValueExact();
      most = high == null ? Long.MAX_VALUE : ((Bound.Whole) high).value().longValueExact();
      isBoolean = interval.column().kind() == TableField.Kind.BOOLEAN;
    }

    private long value(ColonnadeVector vector, int row) {
      return !isBoolean ? vector.getLong(row) : vector.getBoolean(row) ? 1 : 0;
    }

    @Override
    int compareWithLow(ColonnadeVector vector, int row) {
      return Long.compare(value(vector, row), least);
    }

    @Override
    int compareWithHigh(ColonnadeVector vector, int row) {
      return Long.compare(value(vector, row), most);
    }
  }

  private static final class Reals extends IntervalTest {
    private final double least;
    private final double most;
    private final boolean isFloat;

    Reals(Interval interval, Bound low, Bound high) {
      super(interval, low, high);
      least = low == null ? 0 : ((Bound.Real) low).value();
      most = high == null ? 0 : ((Bound.Real) high).value();
      isFloat = interval.column().kind() == TableField.Kind.FLOAT32;
    }

    private double value(ColonnadeVector vector, int row) {
      return isFloat ? vector.getFloat(row) : vector.getDouble(row);
    }

    /** Compares two numbers, neither of which is NaN, as −0.0 = 0.0. */
    private static int compare(double value, double bound) {
      return value < bound ? -1 : value > bound ? 1 : 0;
    }

    @Override
    boolean isMissing(ColonnadeVector vector, int row) {
      return vector.isNullAt(row) || Double.isNaN(value(vector, row));
    }

    @Override
    int compareWithLow(ColonnadeVector vector, int row) {
      return compare(value(vector, row), least);
    }

    @Override
    int compareWithHigh(ColonnadeVector vector, int row) {
      return compare(value(vector, row), most);
    }
  }

  private static final class Decimals extends IntervalTest {
    private final BigInteger least;
    private final BigInteger most;

    Decimals(Interval interval, Bound low, Bound high) {
      super(interval, low, high);
      least = low == null ? null : ((Bound.Whole) low).value();
      most = high == null ? null : ((Bound.Whole) high).value();
    }

    @Override
    int compareWithLow(ColonnadeVector vector, int row) {
      return vector.getUnscaled(row).compareTo(least);
    }

    @Override
    int compareWithHigh(ColonnadeVector vector, int row) {
      return vector.getUnscaled(row).compareTo(most);
    }
  }

  private static final class Texts extends IntervalTest {
    private final UTF8String least;
    private final UTF8String most;

    Texts(Interval interval, Bound low, Bound high) {
      super(interval, low, high);
      least = text(low);
      most = text(high);
    }

    private static UTF8String text(Bound bound) {
      if (bound == null) {
        return null;
      }
      return bound instanceof Bound.Raw raw
          ? UTF8String.fromBytes(raw.value())
          : ((Bound.Text) bound).value();
    }

    @Override
    int compareWithLow(ColonnadeVector vector, int row) {
      return vector.getUTF8String(row).compareTo(least);
    }

    @Override
    int compareWithHigh(ColonnadeVector vector, int row) {
      return vector.getUTF8String(row).compareTo(most);
    }
  }
}
