package colonnade.planner;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.UncheckedIOException;

/** JSON as plans, jobs and entries travel in it. */
public final class Json {
  /** Shared by all: thread safe once configured, and numbers keep their exact value. */
  public static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private Json() {}

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
