package colonnade.read.vector;

import colonnade.format.Bound;
import colonnade.format.Interval;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.rowset.Statistics;
import java.math.BigInteger;
import java.util.BitSet;
import org.apache.spark.unsafe.types.UTF8String;

/** Tells which values of a column are inside an interval, from bounds or row by row. */
public final class IntervalTest {
  private final Interval interval;
  private final Bound low;
  private final Bound high;
  private final boolean isReal;
  private final boolean isFloat;
  private final Comparison withLow;
  private final Comparison withHigh;

  /** Compares the value of a row, which is neither NULL nor NaN, with a bound. */
  private interface Comparison {
    public int of(ColonnadeVector vector, int row);
  }

  private IntervalTest(Interval interval, Bound low, Bound high) {
    this.interval = interval;
    this.low = low;
    this.high = high;
    isReal = interval.column().order() == TableField.Order.FLOAT;
    isFloat = interval.column().kind() == TableField.Kind.FLOAT32;
    this.withLow = comparison(low);
    this.withHigh = comparison(high);
  }

  /**
   * Returns the test of an interval.
   *
   * @throws Malformed if its column cannot have one of the bounds
   */
  public static IntervalTest of(Interval interval) throws Malformed {
    TableField column = interval.column();
    try {
      if (column.order() == TableField.Order.NONE) {
        throw new Malformed("values of type " + column.type() + " have no order");
      }
      return new IntervalTest(
          interval, parse(interval.low(), column), parse(interval.high(), column));
    } catch (Malformed error) {
      throw new Malformed("column '" + column.name() + "': " + error.getMessage(), error);
    }
  }

  private static Bound parse(String bound, TableField column) throws Malformed {
    return bound == null ? null : Bound.parse(bound, column);
  }

  private Comparison comparison(Bound bound) {
    TableField column = interval.column();
    if (bound == null) {
      return null;
    }
    if (bound instanceof Bound.Real real) {
      double value = real.value(); // as −0.0 = 0.0
      return (vector, row) -> {
        double own = real(vector, row);
        return own < value ? -1 : own > value ? 1 : 0;
      };
    }
    if (bound instanceof Bound.Whole whole && column.order() == TableField.Order.DECIMAL) {
      BigInteger value = whole.value();
      return (vector, row) -> vector.getUnscaled(row).compareTo(value);
    }
    if (bound instanceof Bound.Whole whole) {
      long value = whole.value().longValueExact();
      return column.kind() == TableField.Kind.BOOLEAN
          ? (vector, row) -> Long.compare(vector.getBoolean(row) ? 1 : 0, value)
          : (vector, row) -> Long.compare(vector.getLong(row), value);
    }
    UTF8String text =
        bound instanceof Bound.Raw raw
            ? UTF8String.fromBytes(raw.value())
            : ((Bound.Text) bound).value();
    return (vector, row) -> vector.getUTF8String(row).compareTo(text);
  }

  /** Whether some of {@code rows} rows may be inside. Unknown statistics are null. */
  public boolean meets(Statistics known, long rows) {
    if (known == null) {
      return true;
    }
    if (known.nulls() + known.nans() >= rows) {
      return false;
    }
    return known.low() == null || isAboveLow(known.high()) && isBelowHigh(known.low());
  }

  /** Whether all rows of a stretch are inside. Unknown statistics are null. */
  public boolean contains(Statistics known) {
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
  public void keep(ColonnadeVector vector, BitSet rows) {
    for (int row = rows.nextSetBit(0); row >= 0; row = rows.nextSetBit(row + 1)) {
      boolean inside =
          !isMissing(vector, row)
              && (low == null || isInside(withLow.of(vector, row), interval.lowOpen()))
              && (high == null || isInside(-withHigh.of(vector, row), interval.highOpen()));
      if (!inside) {
        rows.clear(row);
      }
    }
  }

  /** Whether a row is NULL or NaN. */
  private boolean isMissing(ColonnadeVector vector, int row) {
    return vector.isNullAt(row) || isReal && Double.isNaN(real(vector, row));
  }

  private double real(ColonnadeVector vector, int row) {
    return isFloat ? vector.getFloat(row) : vector.getDouble(row);
  }
}
