package colonnade.read;

import java.io.Serializable;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * One aggregate function as a task computes it over its own rows.
 *
 * @param column where the argument stands among the columns that are read; -1 for count(*)
 * @param type of the argument
 */
public record TaskAggregate(Function function, int column, DataType type) implements Serializable {

  public enum Function {
    COUNT,
    SUM,
    MIN,
    MAX
  }

  /** count(*). */
  public static final TaskAggregate COUNT_ROWS =
      new TaskAggregate(Function.COUNT, -1, DataTypes.LongType);

  /** Whether Spark's function has the same result over what tasks compute as over the rows. */
  public boolean isExact() {
    return switch (function) {
      case COUNT -> true;
      case SUM -> isWhole(type) || isReal(type);
      // Spark takes 0.0 and -0.0 for equal, and NaN for the greatest.
      case MIN, MAX ->
          isWhole(type)
              || type instanceof DateType
              || type instanceof TimestampType
              || type instanceof TimestampNTZType;
    };
  }

  /** Whether a long holds every value. */
  private static boolean isWhole(DataType type) {
    return type instanceof ByteType
        || type instanceof ShortType
        || type instanceof IntegerType
        || type instanceof LongType
        || type instanceof DecimalType decimal
            && decimal.precision() <= Decimal.MAX_LONG_DIGITS();
  }

  private static boolean isReal(DataType type) {
    return type instanceof FloatType || type instanceof DoubleType;
  }

  /**
   * Of what a task gives. That of a sum of decimals has no more digits than they have, because
   * Spark casts it to their type.
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
