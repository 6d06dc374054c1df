package colonnade.format;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** Which types of Spark are which types of a table. */
public final class SparkType {
  private static final Map<Class<? extends DataType>, String> NAMES =
      Map.of(
          StringType.class, "string",
          DecimalType.class, "decimal",
          ArrayType.class, "array",
          MapType.class, "map",
          StructType.class, "struct",
          IntegerType.class, "int",
          YearMonthIntervalType.class, "interval year to month",
          DayTimeIntervalType.class, "interval day to second",
          TimeType.class, "time",
          NullType.class, "void");

  /** The types that have the same name in Spark and in a table. */
  private static final List<Class<? extends DataType>> NAMED_ALIKE =
      List.of(
          BooleanType.class,
          ByteType.class,
          ShortType.class,
          LongType.class,
          FloatType.class,
          DoubleType.class,
          BinaryType.class,
          DateType.class,
          TimestampType.class,
          TimestampNTZType.class,
          VariantType.class);

  private SparkType() {}

  /**
   * Returns the base type of a table that Spark's rows represent as {@code type}; null if there is
   * none.
   */
  public static String base(DataType type) {
    for (Map.Entry<Class<? extends DataType>, String> each : NAMES.entrySet()) {
      if (each.getKey().isInstance(type)) {
        return each.getValue();
      }
    }
    return NAMED_ALIKE.stream().anyMatch(each -> each.isInstance(type)) ? type.typeName() : null;
  }
}
