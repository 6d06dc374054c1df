package colonnade.planner.messages;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import java.io.UncheckedIOException;

/** Messages as JSON. Names of operations and components are in snake case there. */
public final class MessageJson {
  private static final SnakeCaseStrategy NAMES = new SnakeCaseStrategy();

  /** The mapper. A reply has every component, and nothing else. */
  private static final ObjectMapper MAPPER =
      new ObjectMapper()
          .setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);

  private MessageJson() {}

  /** Returns the name of a message's class in the protocol. */
  public static String nameOf(Class<?> message) {
    return NAMES.translate(message.getSimpleName());
  }

  /** Returns a message, or a value in one, as a tree. */
  public static JsonNode tree(Object message) {
    return MAPPER.valueToTree(message);
  }

  /** Reads a message of a class. */
  public static <M extends Record> M read(JsonNode tree, Class<M> message) {
    try {
      return MAPPER.treeToValue(tree, message);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Reads the reply to a request. */
  public static <R extends Record> R readReply(JsonNode tree, Request<R> request) {
    JavaType type = MAPPER.getTypeFactory().constructType(request.getClass());
    @SuppressWarnings("unchecked") // the class of a request names that of its reply
    Class<R> reply = (Class<R>) type.findTypeParameters(Request.class)[0].getRawClass();
    return read(tree, reply);
  }
}
