package colonnade.format;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Locale;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.hash.Murmur3_x86_32;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Computes the value of a partition from the value of a column. Values have Spark's internal types.
 * NULL always becomes NULL, so callers do not pass it. Spec: docs/spec/partitions.md#transforms
 */
public enum PartitionTransform {
  IDENTITY("") {
    @Override
    public DataType resultType(DataType type) {
      return isPlain(type) ? type : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return value;
    }

    @Override
    public boolean isOfColumn() {
      return true;
    }
  },

  YEARS("year") {
    @Override
    public DataType resultType(DataType type) {
      return isDay(type) || isInstant(type) ? DataTypes.IntegerType : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return date(value, type).getYear() - FIRST_YEAR;
    }
  },

  MONTHS("month") {
    @Override
    public DataType resultType(DataType type) {
      return isDay(type) || isInstant(type) ? DataTypes.IntegerType : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      LocalDate date = date(value, type);
      return (date.getYear() - FIRST_YEAR) * 12 + date.getMonthValue() - 1;
    }
  },

  DAYS("day") {
    @Override
    public DataType resultType(DataType type) {
      return isDay(type) || isInstant(type) ? DataTypes.DateType : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return (int) day(value, type);
    }
  },

  HOURS("hour") {
    @Override
    public DataType resultType(DataType type) {
      return isInstant(type) ? DataTypes.IntegerType : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return (int) Math.floorDiv(((Number) value).longValue(), HOUR_US);
    }
  },

  BUCKET("bucket", "number of buckets") {
    @Override
    public DataType resultType(DataType type) {
      return isHashed(type) ? DataTypes.IntegerType : null;
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return (hash(value, type) & Integer.MAX_VALUE) % argument;
    }
  },

  TRUNCATE("trunc", "width") {
    @Override
    public DataType resultType(DataType type) {
      return truncatedType(type);
    }

    @Override
    Object of(Object value, DataType type, int argument) {
      return truncate(value, argument);
    }

    @Override
    public boolean isOfColumn() {
      return true;
    }
  };

  private static final long DAY_US = 86_400_000_000L;
  private static final long HOUR_US = 3_600_000_000L;
  private static final int FIRST_YEAR = 1970;
  private static final int UNCOLLATED = ((StringType) DataTypes.StringType).collationId();

  /**
   * The number of digits of the largest argument. Truncating can enlarge a negative decimal by up
   * to the argument.
   */
  private static final int ARGUMENT_DIGITS = 10;

  private final String unit;
  private final String argument;

  /** Creates a transform without an argument; {@code unit} names its values. */
  PartitionTransform(String unit) {
    this(unit, null);
  }

  /** Creates a transform; {@code argument} says what its argument is. */
  PartitionTransform(String unit, String argument) {
    this.unit = unit;
    this.argument = argument;
  }

  /** Returns the transform with this name in the log. */
  public static PartitionTransform named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  /** Returns the name of the transform in the log. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns what the values of a column are called where they need a name, as in Iceberg. */
  public String label(String column) {
    return unit.isEmpty() ? column : column + "_" + unit;
  }

  /** Whether the transform takes an argument: the number of buckets or a width. */
  public boolean hasArgument() {
    return argument != null;
  }

  /** Returns how users call the transform. */
  public String signature() {
    return text() + (hasArgument() ? "(" + argument + ", column)" : "(column)");
  }

  /** Whether values are of the type of the column, and not whole numbers. */
  public boolean isOfColumn() {
    return false;
  }

  /**
   * Returns the type of the partition values for a column of a type. Returns null if the transform
   * does not support the column's type.
   */
  public abstract DataType resultType(DataType type);

  /** Returns the partition value, as {@link #apply} does. */
  abstract Object of(Object value, DataType type, int argument);

  /**
   * Returns the partition value of a column value other than NULL.
   *
   * <p>Requires: {@link #resultType} supports the type. A truncated decimal may have more digits
   * than any column can hold.
   *
   * @throws IllegalArgumentException if the argument of a bucket or truncate transform is below 1
   */
  public final Object apply(Object value, DataType type, int argument) {
    if (hasArgument() && argument < 1) {
      throw new IllegalArgumentException(
          "[COLONNADE_INVALID_INPUT] The number of " + text() + " is at least 1, not " + argument
              + ".");
    }
    return of(value, type, argument);
  }

  private static boolean isPlain(DataType type) {
    return isHashed(type)
        || type instanceof BooleanType
        || type instanceof YearMonthIntervalType
        || type instanceof DayTimeIntervalType;
  }

  private static boolean isHashed(DataType type) {
    return type instanceof IntegralType
        || isDay(type)
        || isInstant(type)
        || type instanceof DecimalType
        || type instanceof TimeType
        || type instanceof BinaryType
        || isText(type);
  }

  private static boolean isDay(DataType type) {
    return type instanceof DateType;
  }

  private static boolean isInstant(DataType type) {
    return type instanceof TimestampType || type instanceof TimestampNTZType;
  }

  private static boolean isText(DataType type) {
    return type instanceof StringType text && text.collationId() == UNCOLLATED;
  }

  private static DataType truncatedType(DataType type) {
    if (type instanceof IntegralType) {
      // Truncating the least value of a shorter type gives a multiple below the range of that type.
      return DataTypes.LongType;
    }
    if (type instanceof DecimalType decimal) {
      int digits = Math.max(decimal.precision(), ARGUMENT_DIGITS) + 1;
      return DataTypes.createDecimalType(
          Math.min(digits, DecimalType.MAX_PRECISION()), decimal.scale());
    }
    return type instanceof BinaryType || isText(type) ? type : null;
  }

  private static long day(Object value, DataType type) {
    long number = ((Number) value).longValue();
    return isDay(type) ? number : Math.floorDiv(number, DAY_US);
  }

  private static LocalDate date(Object value, DataType type) {
    return LocalDate.ofEpochDay(day(value, type));
  }

  private static int hash(Object value, DataType type) {
    if (value instanceof UTF8String text) {
      return hash(text.getBaseObject(), text.getBaseOffset(), text.numBytes());
    }
    if (value instanceof byte[] bytes) {
      return hash(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    }
    if (value instanceof Decimal decimal) {
      byte[] bytes = decimal.toJavaBigDecimal().unscaledValue().toByteArray();
      return hash(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    }
    long number = ((Number) value).longValue();
    // The hash covers microseconds, while Spark holds a time in nanoseconds.
    return Murmur3_x86_32.hashLong(type instanceof TimeType ? number / 1000 : number, 0);
  }

  /**
   * Uses {@code hashUnsafeBytes2}, because Spark's {@code hashUnsafeBytes} differs from Murmur3
   * unless the length is a multiple of four.
   */
  private static int hash(Object base, long offset, int length) {
    return Murmur3_x86_32.hashUnsafeBytes2(base, offset, length, 0);
  }

  private static Object truncate(Object value, int width) {
    if (value instanceof UTF8String text) {
      return text.substring(0, width);
    }
    if (value instanceof byte[] bytes) {
      return bytes.length <= width ? bytes : Arrays.copyOf(bytes, width);
    }
    if (value instanceof Decimal decimal) {
      BigInteger unscaled = decimal.toJavaBigDecimal().unscaledValue();
      BigInteger below = unscaled.subtract(unscaled.mod(BigInteger.valueOf(width)));
      return Decimal.apply(new BigDecimal(below, decimal.scale()));
    }
    long number = ((Number) value).longValue();
    int rest = Math.floorMod(number, width);
    return number < Long.MIN_VALUE + rest ? Long.MIN_VALUE : number - rest;
  }
}
