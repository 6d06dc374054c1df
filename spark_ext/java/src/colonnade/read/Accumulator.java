package colonnade.read;

import java.math.BigInteger;
import java.util.ArrayDeque;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;

/**
 * What an aggregate function makes of the rows of a task: mostly one value. If the type cannot hold
 * the result, it is several parts that Spark's function adds up.
 */
abstract class Accumulator {
  private final ArrayDeque<Object> parts = new ArrayDeque<>();
  private Object repeated;
  private long times;

  /** Takes in the rows that a column shows; {@code column} is null for count(*). */
  abstract void add(ColonnadeVector column, int rows);

  /** Gives the last part, if there is one, when all rows have been added. */
  abstract void end();

  /** Adds a part, which is ready for Spark. */
  final void give(Object part) {
    parts.add(part);
  }

  /** Gives a part this many times before all other parts. */
  final void repeat(Object part, long count) {
    repeated = part;
    times = count;
  }

  /** The next part; null where there is none now. */
  final Object take() {
    if (times > 0) {
      times--;
      return repeated;
    }
    return parts.poll();
  }

  static final class Count extends Accumulator {
    private long count;

    @Override
    void add(ColonnadeVector column, int rows) {
      count += column == null ? rows : rows - column.numNulls();
    }

    @Override
    void end() {
      give(count);
    }
  }

  /** Integers or the digits of decimals, added up as longs as far as these go. */
  abstract static class WholeSum extends Accumulator {
    long sum;
    boolean any;

    /** Adds a value whose sum with {@code sum} does not fit a long. */
    abstract void overflow(long value);

    @Override
    final void add(ColonnadeVector column, int rows) {
      long total = sum;
      long overflow = 0;
      boolean found = any;
      for (int row = 0; row < rows; row++) {
        if (!column.isNullAt(row)) {
          long value = column.getLong(row);
          long next = total + value;
          overflow |= (total ^ next) & (value ^ next);
          total = next;
          found = true;
        }
      }
      if (overflow < 0) {
        addOneByOne(column, rows);
      } else {
        sum = total;
        any = found;
      }
    }

    private void addOneByOne(ColonnadeVector column, int rows) {
      for (int row = 0; row < rows; row++) {
        if (column.isNullAt(row)) {
          continue;
        }
        long value = column.getLong(row);
        long next = sum + value;
        if (((sum ^ next) & (value ^ next)) < 0) {
          overflow(value);
        } else {
          sum = next;
          any = true;
        }
      }
    }
  }

  /**
   * Integers. A part ends where the sum would overflow, and the value at which it would is a part
   * by itself: then Spark's sum, too, overflows at this row or not at all, whether that is an
   * error, NULL, or begins anew at the other end.
   */
  static final class LongSum extends WholeSum {
    @Override
    void overflow(long value) {
      give(sum);
      give(value);
      sum = 0;
      any = false;
    }

    @Override
    void end() {
      if (any) {
        give(sum);
      }
    }
  }

  /**
   * Decimals. Spark's sum has ten digits more than they, and so never overflows within a task; its
   * parts have as many as they.
   */
  static final class DecimalSum extends WholeSum {
    private final DecimalType type;
    private BigInteger before = BigInteger.ZERO;

    DecimalSum(DecimalType type) {
      this.type = type;
    }

    @Override
    void overflow(long value) {
      before = before.add(BigInteger.valueOf(sum));
      sum = value;
    }

    @Override
    void end() {
      if (any) {
        BigInteger greatest = BigInteger.TEN.pow(type.precision()).subtract(BigInteger.ONE);
        BigInteger total = before.add(BigInteger.valueOf(sum));
        BigInteger[] split = total.divideAndRemainder(greatest);
        BigInteger outermost = total.signum() < 0 ? greatest.negate() : greatest;
        repeat(boxed(outermost.longValueExact(), type), split[0].abs().longValueExact());
        give(boxed(split[1].longValueExact(), type));
      }
    }
  }

  /** Doubles, or floats as doubles, added row by row as Spark does: the rounding is the same. */
  static final class RealSum extends Accumulator {
    private final boolean isFloat;
    private double sum;
    private boolean any;

    RealSum(boolean isFloat) {
      this.isFloat = isFloat;
    }

    @Override
    void add(ColonnadeVector column, int rows) {
      double total = sum;
      boolean found = any;
      for (int row = 0; row < rows; row++) {
        if (!column.isNullAt(row)) {
          total += isFloat ? column.getFloat(row) : column.getDouble(row);
          found = true;
        }
      }
      sum = total;
      any = found;
    }

    @Override
    void end() {
      if (any) {
        give(sum);
      }
    }
  }

  /** The least or the greatest integer, decimal, date or time. */
  static final class Extreme extends Accumulator {
    private final DataType type;
    private final boolean greatest;
    private long found;
    private boolean any;

    Extreme(DataType type, boolean greatest) {
      this.type = type;
      this.greatest = greatest;
      found = greatest ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    @Override
    void add(ColonnadeVector column, int rows) {
      long best = found;
      boolean present = any;
      for (int row = 0; row < rows; row++) {
        if (!column.isNullAt(row)) {
          long value = column.getLong(row);
          best = greatest ? Math.max(best, value) : Math.min(best, value);
          present = true;
        }
      }
      found = best;
      any = present;
    }

    @Override
    void end() {
      if (any) {
        give(boxed(found, type));
      }
    }
  }

  private static Object boxed(long value, DataType type) {
    if (type instanceof DecimalType decimal) {
      return Decimal.createUnsafe(value, decimal.precision(), decimal.scale());
    }
    if (type instanceof ByteType) {
      return (byte) value;
    }
    if (type instanceof ShortType) {
      return (short) value;
    }
    if (type instanceof IntegerType || type instanceof DateType) {
      return (int) value;
    }
    return value;
  }
}
