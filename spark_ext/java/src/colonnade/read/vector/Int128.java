package colonnade.read.vector;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.Decimal;

/** Integers of 16 bytes, given as their lower and upper 8 bytes. Long decimals are stored so. */
final class Int128 {
  /** Spark holds a decimal in a long if its unscaled value is nearer to zero than this. */
  private static final long COMPACT_LIMIT = 1_000_000_000_000_000_000L;

  private Int128() {}

  /** Returns the integer as a decimal with this unscaled value. */
  static Decimal decimal(long low, long high, int precision, int scale) {
    if (high == low >> 63 && low > -COMPACT_LIMIT && low < COMPACT_LIMIT) {
      return Decimal.createUnsafe(low, precision, scale);
    }
    return Decimal.apply(new BigDecimal(unscaled(low, high), scale), precision, scale);
  }

  /** Returns the integer. */
  static BigInteger unscaled(long low, long high) {
    byte[] bytes = new byte[16];
    for (int i = 0; i < 8; i++) {
      bytes[7 - i] = (byte) (high >> 8 * i);
      bytes[15 - i] = (byte) (low >> 8 * i);
    }
    return new BigInteger(bytes);
  }
}
