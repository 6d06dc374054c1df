package colonnade.read.aggregates;

import java.io.Serializable;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * One aggregate function that a task computes over its own rows.
 *
 * @param column the position of the argument among the columns that are read; -1 for count(*)
 * @param type the type of the argument
 */
public record TaskAggregate(Function function, int column, DataType type) implements Serializable {

  public enum Function {
    COUNT,
    SUM,
    MIN,
    MAX
  }

  /** The aggregate count(*). */
  public static final TaskAggregate COUNT_ROWS =
      new TaskAggregate(Function.COUNT, -1, DataTypes.LongType);

  /**
   * Returns whether Spark's function computes the same result from the aggregates of tasks as from
   * the rows.
   */
  public boolean isExact() {
    return switch (function) {
      case COUNT -> true;
      case SUM -> isWhole(type) || isReal(type);
      // Spark treats 0.0 and -0.0 as equal, and NaN as the greatest value.
      case MIN, MAX ->
          isWhole(type)
              || type instanceof DateType
              || type instanceof TimestampType
              || type instanceof TimestampNTZType;
    };
  }

  /** Whether every value fits in a long. */
  private static boolean isWhole(DataType type) {
    return type instanceof IntegralType
        || type instanceof DecimalType decimal
            && decimal.precision() <= Decimal.MAX_LONG_DIGITS();
  }

  private static boolean isReal(DataType type) {
    return type instanceof FloatType || type instanceof DoubleType;
  }

  /**
   * Returns the type of the values that a task returns. A sum of decimals has as many digits as the
   * column, because Spark casts the task's sum to the column's type.
   */
  public DataType resultType() {
    return switch (function) {
      case COUNT -> DataTypes.LongType;
      case SUM -> type instanceof DecimalType
          ? type
          : isReal(type) ? DataTypes.DoubleType : DataTypes.LongType;
      case MIN, MAX -> type;
    };
  }

  Accumulator accumulator() {
    return switch (function) {
      case COUNT -> new Accumulator.Count();
      case SUM -> type instanceof DecimalType decimal
          ? new Accumulator.DecimalSum(decimal)
          : isReal(type)
              ? new Accumulator.RealSum(type instanceof FloatType)
              : new Accumulator.LongSum();
      case MIN, MAX -> new Accumulator.Extreme(type, function == Function.MAX);
    };
  }
}
