package colonnade.spark.table;

import colonnade.format.ShortestDouble;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Base64;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.types.UTF8String;

/** The bounds of the log (manifests/model/statistics.py) as Spark's internal values. */
public final class BoundText {
  private BoundText() {}

  /** The value of {@code bound} in a column of {@code type}; {@code f:nan} is NaN. */
  public static Object value(String bound, DataType type) {
    String body = bound.substring(bound.indexOf(':') + 1);
    return switch (bound.charAt(0)) {
      case 's' -> UTF8String.fromString(body);
      case 'b' -> Base64.getDecoder().decode(body);
      case 'f' -> real(ShortestDouble.parse(body), type);
      default -> integer(new BigInteger(body), type);
    };
  }

  private static Object real(double value, DataType type) {
    return type instanceof FloatType ? (Object) (float) value : (Object) value;
  }

  private static Object integer(BigInteger value, DataType type) {
    if (type instanceof BooleanType) {
      return value.signum() != 0;
    }
    if (type instanceof ByteType) {
      return value.byteValueExact();
    }
    if (type instanceof ShortType) {
      return value.shortValueExact();
    }
    if (type instanceof IntegerType
        || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return value.intValueExact();
    }
    if (type instanceof DecimalType decimal) {
      BigDecimal scaled = new BigDecimal(value, decimal.scale());
      return Decimal.apply(scaled, decimal.precision(), decimal.scale());
    }
    return value.longValueExact();
  }
}
