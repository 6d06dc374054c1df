package colonnade.format.rowset;

import colonnade.format.Slice;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes JSON to byte arrays. */
public final class JsonBytes {
  private static final JsonFactory JSON = new JsonFactory();

  private JsonBytes() {}

  /** Writes one JSON value to a generator. */
  public interface Body {
    void write(JsonGenerator json) throws IOException;
  }

  /** Returns the UTF-8 bytes of the JSON that {@code body} writes. */
  public static byte[] of(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      body.write(json);
    } catch (IOException error) {
      throw new IllegalStateException("Memory cannot be written to", error);
    }
    return bytes.toByteArray();
  }

  /**
   * Returns the JSON object that {@code body} writes, in its envelope. Spec:
   * docs/spec/epoch-log.md#envelope
   */
  static byte[] seal(Body body) {
    byte[] json = of(body);
    String head = String.format("{\"crc32c\":\"%08x\",\"body\":", Slice.of(json).crc32c());
    ByteArrayOutputStream sealed = new ByteArrayOutputStream(json.length + 64);
    sealed.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
    sealed.writeBytes(json);
    sealed.writeBytes("}\n".getBytes(StandardCharsets.US_ASCII));
    return sealed.toByteArray();
  }
}
