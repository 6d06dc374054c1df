package colonnade.format;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Base64;

/** The smallest or largest of some values. Spec: docs/spec/operations.md#statistics-and-bounds */
public sealed interface Bound {
  /** The bound as the log and the footer write it. */
  String tagged();

  /** How the bound compares with another one of the same class. */
  int compare(Bound other);

  /** Code points or bytes; 0 for numbers. */
  default int length() {
    return 0;
  }

  /** A bound of at most so many code points or bytes that is not larger. */
  default Bound below(int length) {
    return this;
  }

  /** A bound of at most so many code points or bytes that is not smaller; null if none is. */
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

  /** A string, ordered by code point. */
  record Text(String value) implements Bound {
    @Override
    public String tagged() {
      return "s:" + value;
    }

    @Override
    public int compare(Bound other) {
      return Arrays.compare(
          value.codePoints().toArray(), ((Text) other).value.codePoints().toArray());
    }

    @Override
    public int length() {
      return value.codePointCount(0, value.length());
    }

    @Override
    public Bound below(int length) {
      return length() <= length ? this : new Text(prefix(length));
    }

    @Override
    public Bound above(int length) {
      if (length() <= length) {
        return this;
      }
      int[] points = prefix(length).codePoints().toArray();
      int last = points.length - 1;
      while (last >= 0 && points[last] == Character.MAX_CODE_POINT) {
        last--;
      }
      if (last < 0) {
        return null;
      }
      // No string holds the code points from U+D800 to U+DFFF.
      points[last] = points[last] == 0xD7FF ? 0xE000 : points[last] + 1;
      return new Text(new String(points, 0, last + 1));
    }

    private String prefix(int length) {
      return value.substring(0, value.offsetByCodePoints(0, length));
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
