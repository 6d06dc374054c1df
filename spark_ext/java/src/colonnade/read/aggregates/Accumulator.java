package colonnade.read.aggregates;

import colonnade.read.vector.ColonnadeVector;
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
 * Computes one aggregate function over the rows of a task. The result is usually one value. If its
 * type cannot hold the result, the result is several parts, which Spark's function combines.
 */
abstract class Accumulator {
  private final ArrayDeque<Object> parts = new ArrayDeque<>();
  private Object repeated;
  private long times;

  /** Adds the rows that a column shows. {@code column} is null for count(*). */
  abstract void add(ColonnadeVector column, int rows);

  /** Adds the last part, if there is one. The caller must have added all rows. */
  abstract void end();

  /** Adds a part in Spark's internal representation. */
  final void give(Object part) {
    parts.add(part);
  }

  /** Makes {@link #take} return {@code part} this many times before all other parts. */
  final void repeat(Object part, long count) {
    repeated = part;
    times = count;
  }

  /** Removes and returns the next part, or returns null if no part is ready. */
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

  /** A sum of integers or of unscaled decimals, held in a long as far as possible. */
  abstract static class WholeSum extends Accumulator {
    long sum;
    boolean any;

    /** Adds a value whose sum with {@code sum} does not fit in a long. */
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
   * A sum of integers. A part ends before the row at which the sum would overflow, and the value of
   * this row is a part by itself. Spark's own sum thus meets the overflow at this row too, whether
   * it then fails, returns NULL or wraps around.
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
   * A sum of decimals. Spark's sum has ten digits more than the column and cannot overflow within a
   * task. The parts have as many digits as the column.
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

  /**
   * A sum of doubles, or of floats as doubles. It adds row by row as Spark does, so that it rounds
   * equally.
   */
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

  /**
   * The least or the greatest value of a type that is stored as an integer: integer, decimal, date
   * or timestamp.
   */
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
