package colonnade.format;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Base64;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A lower or an upper bound of a set of values. No value is smaller than its lower bound or larger
 * than its upper bound. Spec: docs/spec/operations.md#statistics-and-bounds
 */
public sealed interface Bound {
  /**
   * Reads a bound in the form that the log and the footer store.
   *
   * @throws Malformed if values of a column cannot have such a bound
   */
  static Bound parse(String prefixed, TableField column) throws Malformed {
    try {
      int colon = prefixed.indexOf(':');
      String body = prefixed.substring(colon + 1);
      if (!prefixed.substring(0, colon).equals(column.prefix())) {
        throw new IllegalArgumentException(prefixed);
      }
      return switch (column.kind()) {
        case LIST, MAP, STRUCT, VOID -> throw new IllegalArgumentException(prefixed);
        case UTF8 -> new Text(UTF8String.fromString(body));
        case BINARY -> new Raw(Base64.getDecoder().decode(body));
        case FLOAT32, FLOAT64 -> new Real(number(body));
        case DECIMAL -> new Whole(new BigInteger(body));
        default -> Whole.of(Long.parseLong(body));
      };
    } catch (RuntimeException error) {
      throw new Malformed("bound '" + prefixed + "' does not fit a column of this type", error);
    }
  }

  private static double number(String body) {
    if (body.equals("nan")) {
      throw new IllegalArgumentException(body);
    }
    return ShortestDouble.parse(body);
  }

  /** Returns the bound as the log and the footer store it, without the prefix. */
  String text();

  /** Returns the bound in the form that the log and the footer store. */
  default String prefixed(String prefix) {
    return prefix + ":" + text();
  }

  /** Compares this bound with another one of the same class. */
  int compare(Bound other);

  /** Returns the number of code points or bytes of the bound; 0 for a number. */
  default int length() {
    return 0;
  }

  /**
   * Returns a bound of at most {@code length} code points or bytes that is not larger than this
   * one.
   */
  default Bound below(int length) {
    return this;
  }

  /**
   * Returns a bound of at most {@code length} code points or bytes that is not smaller than this
   * one. Returns null if no such bound exists.
   */
  default Bound above(int length) {
    return this;
  }

  /**
   * A bound of values that are stored as integers. A decimal is represented by its unscaled value.
   */
  record Whole(BigInteger value) implements Bound {
    public static Whole of(long value) {
      return new Whole(BigInteger.valueOf(value));
    }

    @Override
    public String text() {
      return value.toString();
    }

    @Override
    public int compare(Bound other) {
      return value.compareTo(((Whole) other).value);
    }
  }

  /** A bound of floats or doubles. It is never NaN. */
  record Real(double value) implements Bound {
    @Override
    public String text() {
      return ShortestDouble.text(value);
    }

    @Override
    public int compare(Bound other) {
      double theirs = ((Real) other).value;
      return value < theirs ? -1 : value > theirs ? 1 : 0;
    }
  }

  /**
   * A bound of strings. Strings are ordered by code point, which is also the order of their UTF-8
   * bytes.
   */
  record Text(UTF8String value) implements Bound {
    @Override
    public String text() {
      return value.toString();
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
      // Strings cannot contain the surrogates, U+D800 to U+DFFF.
      points[last] = points[last] == 0xD7FF ? 0xE000 : points[last] + 1;
      return new Text(UTF8String.fromString(new String(points, 0, last + 1)));
    }
  }

  /** A bound of binary values, which are ordered by unsigned byte. */
  record Raw(byte[] value) implements Bound {
    @Override
    public String text() {
      return Base64.getEncoder().encodeToString(value);
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
