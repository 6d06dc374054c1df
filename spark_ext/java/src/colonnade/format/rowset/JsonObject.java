package colonnade.format.rowset;

import colonnade.format.Slice;
import colonnade.store.StoreException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.Set;

/**
 * A JSON object of a stored file. Its methods throw an error for an unknown key or a value of the
 * wrong type.
 */
public record JsonObject(JsonNode node, String location, String path) {
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final String HEAD = "{\"crc32c\":\"";
  private static final String MIDDLE = "\",\"body\":";

  /**
   * Verifies the envelope of a stored JSON object and returns the object.
   *
   * <p>Spec: docs/spec/epoch-log.md#envelope
   */
  static JsonObject unseal(Slice data, String location) throws IOException {
    int start = HEAD.length() + 8 + MIDDLE.length();
    Slice body = data.length() < start + 2 ? null : data.part(start, data.length() - start - 2);
    String sum = body == null ? "" : String.format("%08x", body.crc32c());
    if (body == null || !text(data, 0, start).startsWith(HEAD)
        || !text(data, HEAD.length() + 8, start).equals(MIDDLE)
        || !text(data, data.length() - 2, data.length()).equals("}\n")) {
      throw StoreException.corruption(
          location + " is damaged or truncated: it is not a Colonnade object.", null);
    }
    if (!text(data, HEAD.length(), HEAD.length() + 8).equals(sum)) {
      throw StoreException.corruption(
          location + " is damaged: its bytes do not match their checksum.", null);
    }
    try {
      return new JsonObject(
          MAPPER.readTree(body.array(), body.offset(), body.length()), location, "");
    } catch (JsonProcessingException error) {
      throw StoreException.corruption(location + " is malformed at its top.", error);
    }
  }

  /** Parses JSON that the planner wrote. */
  public static JsonNode parse(String json) {
    try {
      return MAPPER.readTree(json);
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException(error);
    }
  }

  private static String text(Slice data, int from, int to) {
    return new String(
        data.array(), data.offset() + from, to - from, StandardCharsets.ISO_8859_1);
  }

  /**
   * Refuses any other key, because only another version of the format could have written it, and a
   * key that is null, which has to be absent.
   */
  JsonObject only(Set<String> keys) throws IOException {
    if (!node.isObject()) {
      throw malformed("", "Input should be an object");
    }
    for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!keys.contains(name)) {
        throw StoreException.unsupported(
            location + " holds the key '" + path + name
                + "', which this version does not know: upgrade Colonnade.");
      }
      if (node.get(name).isNull()) {
        throw malformed(name, "the key must not be null");
      }
    }
    return this;
  }

  boolean has(String key) {
    return node.has(key);
  }

  JsonObject object(String key) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isObject()) {
      throw malformed(key, "Input should be an object");
    }
    return new JsonObject(value, location, path + key + ".");
  }

  /** Returns an integer from {@code low} to {@code high}, both included. */
  long integer(String key, long low, long high) throws IOException {
    return integer(node.get(key), key, low, high);
  }

  long integer(JsonNode value, String key, long low, long high) throws IOException {
    boolean fits = value != null && value.isIntegralNumber() && value.canConvertToLong();
    if (!fits || value.longValue() < low || value.longValue() > high) {
      throw malformed(key, "Input should be an integer from " + low + " to " + high);
    }
    return value.longValue();
  }

  String text(String key) throws IOException {
    JsonNode value = node.get(key);
    if (value == null || !value.isTextual()) {
      throw malformed(key, "Input should be a string");
    }
    return value.textValue();
  }

  boolean flag(String key, boolean absent) throws IOException {
    JsonNode value = node.get(key);
    if (value != null && !value.isBoolean()) {
      throw malformed(key, "Input should be a boolean");
    }
    return value == null ? absent : value.booleanValue();
  }

  IOException malformed(String key, String problem) {
    return StoreException.corruption(
        location + " is malformed at " + path + key + ": " + problem + ".", null);
  }
}
