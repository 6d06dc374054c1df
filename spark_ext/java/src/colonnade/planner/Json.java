package colonnade.planner;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;

/** JSON as plans, jobs and entries travel in it. */
public final class Json {
  /** Shared by all: thread safe once configured, and numbers keep their exact value. */
  public static final ObjectMapper MAPPER = mapper();

  private Json() {}

  private static ObjectMapper mapper() {
    // What one half of ours writes the other reads, however long; inline columns are strings.
    StreamReadConstraints anyLength =
        StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();
    JsonFactory factory = JsonFactory.builder().streamReadConstraints(anyLength).build();
    return new ObjectMapper(factory).enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  }

  /** The value in {@code text}, which one of our own halves wrote. */
  public static JsonNode parse(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** {@code value} (a tree, a map, a list, a record) on one line. */
  public static String write(Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }
}
