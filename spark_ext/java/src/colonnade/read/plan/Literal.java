package colonnade.read.plan;

import colonnade.format.Bound;
import colonnade.format.ShortestDouble;
import colonnade.format.TableField;
import colonnade.format.rowset.BloomFilter;
import java.math.BigDecimal;
import java.util.Base64;
import org.apache.spark.unsafe.types.UTF8String;

/** A constant in a predicate, with the family of types that it can be compared with. */
record Literal(String kind, Object value) {
  private static final BigDecimal DAY_US = BigDecimal.valueOf(86_400_000_000L);

  /** Reads a literal in the planner's form, {@code kind:text}. */
  static Literal decode(String prefixed) {
    int colon = prefixed.indexOf(':');
    String kind = prefixed.substring(0, colon);
    String body = prefixed.substring(colon + 1);
    Object value = switch (kind) {
      case "boolean" -> BigDecimal.valueOf(body.equals("true") ? 1 : 0);
      case "double" -> ShortestDouble.parse(body);
      case "string" -> UTF8String.fromString(body);
      case "binary" -> UTF8String.fromBytes(Base64.getDecoder().decode(body));
      case "integer", "decimal", "date", "timestamp", "timestamp_ntz", "time", "months",
          "duration" ->
          new BigDecimal(body);
      // NULL has no value. Neither has a literal that only a newer planner knows, which then fits
      // no column.
      default -> null;
    };
    return new Literal(kind, value);
  }

  boolean isNull() {
    return kind.equals("null");
  }

  /** Returns a number as a double, and any other literal unchanged. */
  Literal asDouble() {
    boolean whole = kind.equals("integer") || kind.equals("decimal");
    return whole ? new Literal("double", ((BigDecimal) value).doubleValue()) : this;
  }

  /** Returns whether this literal can be compared with the values of a column. NaN cannot. */
  boolean fits(TableField column) {
    String type = column.type();
    return switch (kind) {
      case "integer", "decimal", "double" ->
          !Double.valueOf(Double.NaN).equals(value)
              && (column.order() == TableField.Order.FLOAT
                  || type.matches("byte|short|int|long|decimal.*"));
      case "boolean" -> type.equals("boolean");
      case "string" -> column.order() == TableField.Order.STRING;
      case "binary" -> type.equals("binary");
      case "date", "timestamp", "timestamp_ntz" -> type.matches("date|timestamp|timestamp_ntz");
      case "time" -> type.startsWith("time(");
      case "months" -> type.matches("interval (year|month).*");
      case "duration" -> type.matches("interval (?!year|month).*");
      default -> false;
    };
  }

  /**
   * Returns the sign of {@code bound - this}. Requires: {@link #fits} returns true for the column.
   */
  int compareBound(Bound bound, TableField column) {
    if (bound instanceof Bound.Text text) {
      return text.value().compareTo((UTF8String) value);
    }
    if (bound instanceof Bound.Raw raw) {
      return UTF8String.fromBytes(raw.value()).compareTo((UTF8String) value);
    }
    if (bound instanceof Bound.Real || value instanceof Double) {
      // Spark rounds the column's value to a double before it compares. Rounding keeps the order.
      double left =
          bound instanceof Bound.Real real ? real.value() : number(bound, column).doubleValue();
      double right = ((Number) value).doubleValue();
      return left < right ? -1 : left > right ? 1 : 0;
    }
    BigDecimal right = (BigDecimal) value;
    return number(bound, column).compareTo(kind.equals("date") ? right.multiply(DAY_US) : right);
  }

  /**
   * Returns the hash of the one stored value that equals this literal. Returns null if no stored
   * value or more than one equals it, or if the column cannot have Bloom filters. Requires: {@link
   * #fits} returns true for the column.
   */
  Long hash(TableField column) {
    return switch (column.order()) {
      case STRING, BINARY -> hash(((UTF8String) value).getBytes());
      case FLOAT -> BloomFilter.hash(((Number) value).doubleValue());
      case INTEGER, DECIMAL -> isStoredAs(column) ? hash(stored(column)) : null;
      case NONE -> null;
    };
  }

  private static Long hash(byte[] bytes) {
    return BloomFilter.hash(bytes, 0, bytes.length);
  }

  private static Long hash(BigDecimal whole) {
    boolean exact = whole.signum() == 0 || whole.stripTrailingZeros().scale() <= 0;
    return exact ? BloomFilter.hash(whole.toBigInteger()) : null;
  }

  /** Whether the column stores the number of this literal itself, apart from a decimal's scale. */
  private boolean isStoredAs(TableField column) {
    return switch (kind) {
      // Several large numbers may round to the same double.
      case "double", "boolean" -> false;
      case "date", "timestamp", "timestamp_ntz" -> kind.equals(column.type());
      default -> true;
    };
  }

  private BigDecimal stored(TableField column) {
    BigDecimal number = (BigDecimal) value;
    boolean isDecimal = column.kind() == TableField.Kind.DECIMAL;
    return isDecimal ? number.scaleByPowerOfTen(column.scale()) : number;
  }

  private static BigDecimal number(Bound bound, TableField column) {
    BigDecimal number = new BigDecimal(((Bound.Whole) bound).value());
    if (column.kind() == TableField.Kind.DECIMAL) {
      return number.scaleByPowerOfTen(-column.scale());
    }
    return column.type().equals("date") ? number.multiply(DAY_US) : number;
  }
}
