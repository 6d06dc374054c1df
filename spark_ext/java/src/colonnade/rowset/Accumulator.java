package colonnade.rowset;

import java.util.ArrayDeque;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;

/**
 * What an aggregate function makes of the rows of a task: mostly one value. Where no value of the
 * type could be it, several parts, of which Spark's function makes the same.
 */
abstract class Accumulator {
  /** Values that are ready for Spark. */
  final ArrayDeque<Object> parts = new ArrayDeque<>();

  /** Takes in the rows that a column shows; {@code column} is null for count(*). */
  abstract void add(ColonnadeVector column, int rows);

  /** Makes a part of what is left, if anything, when all rows have been added. */
  abstract void end();

  static final class Count extends Accumulator {
    private long count;

    @Override
    void add(ColonnadeVector column, int rows) {
      count += column == null ? rows : rows - column.numNulls();
    }

    @Override
    void end() {
      parts.add(count);
    }
  }

  /**
   * Integers or the digits of decimals.
   *
   * <p>A part ends where the sum would leave its type, and the value that would make it so is a
   * part by itself: then Spark's sum, too, overflows at this row or not at all, whether that is an
   * error, NULL, or begins anew at the other end.
   */
  static final class WholeSum extends Accumulator {
    private final DataType type;
    private final long least;
    private final long greatest;
    private long sum;
    private boolean any;

    WholeSum(DataType type) {
      this.type = type;
      boolean digits = type instanceof DecimalType;
      greatest = digits ? powerOfTen(((DecimalType) type).precision()) - 1 : Long.MAX_VALUE;
      least = digits ? -greatest : Long.MIN_VALUE;
    }

    private static long powerOfTen(int exponent) {
      long power = 1;
      for (int i = 0; i < exponent; i++) {
        power *= 10;
      }
      return power;
    }

    @Override
    void add(ColonnadeVector column, int rows) {
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
      if (overflow < 0 || total < least || total > greatest) {
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
        any = ((sum ^ next) & (value ^ next)) >= 0 && next >= least && next <= greatest;
        if (!any) {
          parts.add(boxed(sum, type));
          parts.add(boxed(value, type));
        }
        sum = any ? next : 0;
      }
    }

    @Override
    void end() {
      if (any) {
        parts.add(boxed(sum, type));
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
        parts.add(sum);
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
        parts.add(boxed(found, type));
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
