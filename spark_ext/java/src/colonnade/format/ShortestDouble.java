package colonnade.format;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/** The shortest decimal text that reads back as the same double, in the log's canonical form. */
public final class ShortestDouble {
  private ShortestDouble() {}

  /**
   * Returns the text of a double. Requires: the value is not NaN. A call takes microseconds, so use
   * it for bounds and not for every row.
   */
  static String text(double value) {
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    if (value == 0) {
      return 1 / value > 0 ? "0.0" : "-0.0";
    }
    return (value < 0 ? "-" : "") + positive(Math.abs(value));
  }

  /** Returns the double of a text in this form, or in another form of Java; {@code nan} is NaN. */
  public static double parse(String text) {
    return switch (text) {
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      case "nan" -> Double.NaN;
      default -> Double.parseDouble(text);
    };
  }

  private static String positive(double value) {
    BigDecimal shortest = shortest(value).stripTrailingZeros();
    String digits = shortest.unscaledValue().toString();
    int point = digits.length() - shortest.scale();
    if (point > 16 || point < -3) {
      int exponent = point - 1;
      String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
      return digits.charAt(0) + fraction + "e" + (exponent < 0 ? "-" : "+")
          + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }
    String plain = shortest.toPlainString();
    return plain.indexOf('.') < 0 ? plain + ".0" : plain;
  }

  private static BigDecimal shortest(double value) {
    BigDecimal exact = new BigDecimal(value);
    for (int digits = 1; digits <= 17; digits++) {
      // Next to a power of two the nearer decimal can read back as the neighbouring double, while
      // the farther decimal reads back correctly.
      BigDecimal below = exact.round(new MathContext(digits, RoundingMode.FLOOR));
      BigDecimal above = exact.round(new MathContext(digits, RoundingMode.CEILING));
      boolean belowFirst =
          exact.subtract(below).compareTo(above.subtract(exact)) <= 0;
      BigDecimal nearer = belowFirst ? below : above;
      if (nearer.doubleValue() == value) {
        return nearer;
      }
      BigDecimal farther = belowFirst ? above : below;
      if (farther.doubleValue() == value) {
        return farther;
      }
    }
    return exact;
  }
}
