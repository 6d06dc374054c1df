package colonnade.planner;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;

/** Reads and writes the JSON of plans, jobs and entries. */
public final class Json {
  /**
   * The shared mapper. It is thread-safe after its configuration, and numbers keep their exact
   * value.
   */
  public static final ObjectMapper MAPPER = mapper();

  private Json() {}

  private static ObjectMapper mapper() {
    // Lift the limits on length: inline RowSets are long strings, and this JSON is our own.
    StreamReadConstraints anyLength =
        StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();
    JsonFactory factory = JsonFactory.builder().streamReadConstraints(anyLength).build();
    return new ObjectMapper(factory).enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  }

  /** Parses JSON that Colonnade's Python or Java code wrote. */
  public static JsonNode parse(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Returns {@code value} (a tree, a map, a list or a record) as JSON on one line. */
  public static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }
}
