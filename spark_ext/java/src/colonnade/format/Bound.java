package colonnade.format;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Base64;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A bound of some values: no value is smaller than the lower one or larger than the upper one.
 * Spec: docs/spec/operations.md#statistics-and-bounds
 */
public sealed interface Bound {
  /**
   * Reads a bound as the log and the footer write it.
   *
   * @throws Malformed if values of this order have no such bound
   */
  static Bound parse(String tagged, TableField.Order order) throws Malformed {
    try {
      String body = tagged.substring(2);
      return switch (tagged.substring(0, 2) + order) {
        case "i:INTEGER" -> Whole.of(Long.parseLong(body));
        case "i:DECIMAL" -> new Whole(new BigInteger(body));
        case "f:FLOAT" -> new Real(number(body));
        case "s:STRING" -> new Text(UTF8String.fromString(body));
        case "b:BINARY" -> new Raw(Base64.getDecoder().decode(body));
        default -> throw new IllegalArgumentException(tagged);
      };
    } catch (RuntimeException error) {
      throw new Malformed("bound '" + tagged + "' does not fit a column of this type", error);
    }
  }

  private static double number(String body) {
    return switch (body) {
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      case "nan" -> throw new IllegalArgumentException(body);
      default -> Double.parseDouble(body);
    };
  }

  /** The bound as the log and the footer write it. */
  String tagged();

  /** Compares with a bound of the same class. */
  int compare(Bound other);

  /** How many code points or bytes it has; 0 for numbers. */
  default int length() {
    return 0;
  }

  /** Returns a bound that is not larger, of at most {@code length} code points or bytes. */
  default Bound below(int length) {
    return this;
  }

  /**
   * Returns a bound that is not smaller, of at most {@code length} code points or bytes; null where
   * there is none.
   */
  default Bound above(int length) {
    return this;
  }

  /** What is stored as an integer, decimals unscaled. */
  record Whole(BigInteger value) implements Bound {
    public static Whole of(long value) {
      return new Whole(BigInteger.valueOf(value));
    }

    @Override
    public String tagged() {
      return "i:" + value;
    }

    @Override
    public int compare(Bound other) {
      return value.compareTo(((Whole) other).value);
    }
  }

  /** A float or double, never NaN. */
  record Real(double value) implements Bound {
    @Override
    public String tagged() {
      return "f:" + ShortestDouble.text(value);
    }

    @Override
    public int compare(Bound other) {
      double theirs = ((Real) other).value;
      return value < theirs ? -1 : value > theirs ? 1 : 0;
    }
  }

  /** A string, ordered by code point, which is the order of its UTF-8 bytes. */
  record Text(UTF8String value) implements Bound {
    @Override
    public String tagged() {
      return "s:" + value;
    }

    @Override
    public int compare(Bound other) {
      return value.compareTo(((Text) other).value);
    }

    @Override
    public int length() {
      return value.numChars();
    }

    @Override
    public Bound below(int length) {
      return length() <= length ? this : new Text(value.substring(0, length));
    }

    @Override
    public Bound above(int length) {
      if (length() <= length) {
        return this;
      }
      int[] points = value.substring(0, length).toString().codePoints().toArray();
      int last = points.length - 1;
      while (last >= 0 && points[last] == Character.MAX_CODE_POINT) {
        last--;
      }
      if (last < 0) {
        return null;
      }
      // No string holds the code points from U+D800 to U+DFFF.
      points[last] = points[last] == 0xD7FF ? 0xE000 : points[last] + 1;
      return new Text(UTF8String.fromString(new String(points, 0, last + 1)));
    }
  }

  /** Binary, ordered by unsigned byte. */
  record Raw(byte[] value) implements Bound {
    @Override
    public String tagged() {
      return "b:" + Base64.getEncoder().encodeToString(value);
    }

    @Override
    public int compare(Bound other) {
      return Arrays.compareUnsigned(value, ((Raw) other).value);
    }

    @Override
    public int length() {
      return value.length;
    }

    @Override
    public Bound below(int length) {
      return value.length <= length ? this : new Raw(Arrays.copyOf(value, length));
    }

    @Override
    public Bound above(int length) {
      if (value.length <= length) {
        return this;
      }
      int last = length - 1;
      while (last >= 0 && value[last] == -1) {
        last--;
      }
      if (last < 0) {
        return null;
      }
      byte[] stem = Arrays.copyOf(value, last + 1);
      stem[last]++;
      return new Raw(stem);
    }
  }
}
