package colonnade.read;

import colonnade.format.Malformed;
import colonnade.format.StoredField;
import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.util.Base64;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What is known about some rows of a column.
 *
 * <p>Both bounds or none are there: Long, BigInteger, Double or (texts and bytes alike, which order
 * the same way) UTF8String. They may be wider than the values unless {@code exact}.
 */
public record Statistics(long nulls, long nans, Object low, Object high, boolean exact) {

  /** Reads a tagged bound of a column; see docs/spec/operations.md. */
  public static Object bound(StoredField.Order order, JsonNode text) throws Malformed {
    if (text == null || text.isNull()) {
      return null;
    }
    String tagged = text.textValue();
    try {
      String body = tagged.substring(2);
      return switch (tagged.substring(0, 2) + order) {
        case "i:INTEGER" -> Long.valueOf(body);
        case "i:DECIMAL" -> new BigInteger(body);
        case "f:FLOAT" -> number(body);
        case "s:STRING" -> UTF8String.fromString(body);
        case "b:BINARY" -> UTF8String.fromBytes(Base64.getDecoder().decode(body));
        default -> throw new IllegalArgumentException(tagged);
      };
    } catch (RuntimeException error) {
      throw new Malformed("bound '" + tagged + "' is none of a column of this type", error);
    }
  }

  private static Double number(String body) {
    return switch (body) {
      case "inf" -> Double.POSITIVE_INFINITY;
      case "-inf" -> Double.NEGATIVE_INFINITY;
      case "nan" -> throw new IllegalArgumentException(body);
      default -> Double.valueOf(body);
    };
  }
}
