package colonnade.format.rowset;

import colonnade.format.Slice;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * Records as JSON. Names of components are in snake case there, and components without a value
 * absent.
 */
public final class JsonRecords {
  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .defaultPropertyInclusion(JsonInclude.Value.construct(Include.NON_NULL, Include.ALWAYS))
          .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .build();

  private JsonRecords() {}

  /** Reads a record of what the planner gives a task. It has every component, and nothing else. */
  public static <R extends Record> R read(JsonNode json, Class<R> record) {
    try {
      return MAPPER.treeToValue(json, record);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Returns the UTF-8 bytes of a record, or of a list of records. */
  public static byte[] write(Object value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** Returns a record as a JSON object in its envelope. Spec: docs/spec/epoch-log.md#envelope */
  static byte[] seal(Record value) {
    byte[] json = write(value);
    String head = String.format("{\"crc32c\":\"%08x\",\"body\":", Slice.of(json).crc32c());
    ByteArrayOutputStream sealed = new ByteArrayOutputStream(json.length + 64);
    sealed.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    sealed.writeBytes(json);
    sealed.writeBytes("}\n".getBytes(StandardCharsets.US_ASCII));
    return sealed.toByteArray();
  }
}
