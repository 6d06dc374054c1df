package colonnade.read;

import colonnade.format.Malformed;
import colonnade.format.StoredField;
import java.math.BigInteger;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One value for every row: the block's exact minimum, which only its index has.
 *
 * <p>Spec: docs/spec/rowset.md#constant
 */
final class Constant {
  private Constant() {}

  static void decode(StoredField column, Statistics statistics, ColonnadeVector target)
      throws Malformed {
    Object value = statistics.low();
    if (value == null || !statistics.exact() || column.order() == StoredField.Order.NONE) {
      throw new Malformed("its index does not state the one value that it holds");
    }
    switch (column.kind()) {
      case UTF8, BINARY -> target.setConstant((UTF8String) value);
      case FLOAT32 ->
          target.setConstant(Float.floatToRawIntBits(((Double) value).floatValue()), 0);
      case FLOAT64 -> target.setConstant(Double.doubleToRawLongBits((Double) value), 0);
      case DECIMAL -> {
        BigInteger unscaled =
            value instanceof BigInteger large ? large : BigInteger.valueOf((Long) value);
        boolean fits = unscaled.abs().compareTo(BigInteger.TEN.pow(column.precision())) < 0;
        require(fits, column);
        target.setConstant(unscaled.longValue(), unscaled.shiftRight(64).longValue());
      }
      default -> {
        long number = (Long) value;
        require(number == limited(column, number), column);
        target.setConstant(number, 0);
      }
    }
  }

  private static long limited(StoredField column, long number) {
    return switch (column.kind()) {
      case BOOLEAN -> number & 1;
      case INT8 -> (byte) number;
      case INT16 -> (short) number;
      case INT32 -> (int) number;
      default -> number;
    };
  }

  private static void require(boolean fits, StoredField column) throws Malformed {
    if (!fits) {
      throw new Malformed("its index states a value that is no " + column.type());
    }
  }
}
