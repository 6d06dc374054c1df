package colonnade.format.rowset;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import org.roaringbitmap.RoaringBitmap;

/**
 * A set of row numbers. It holds a Roaring bitmap of the lower 32 bits for each value of the upper
 * 32 bits.
 */
public final class RowNumbers {
  private final Map<Integer, RoaringBitmap> bitmaps = new TreeMap<>(Integer::compareUnsigned);
  private RoaringBitmap last;
  private int lastUpper;

  /**
   * Adds a row number. It is fast for successive numbers with equal upper bits, because these reuse
   * the last bitmap.
   */
  public void add(long number) {
    int upper = (int) (number >>> 32);
    if (last == null || upper != lastUpper) {
      last = bitmaps.computeIfAbsent(upper, each -> new RoaringBitmap());
      lastUpper = upper;
    }
    last.add((int) number);
  }

  /**
   * Writes a JSON object that maps the upper 32 bits to the bitmap of the lower 32 bits in base64.
   */
  public void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    for (Map.Entry<Integer, RoaringBitmap> each : bitmaps.entrySet()) {
      json.writeStringField(Integer.toUnsignedString(each.getKey()), text(each.getValue()));
    }
    json.writeEndObject();
  }

  private static String text(RoaringBitmap bitmap) {
    bitmap.runOptimize();
    ByteBuffer bytes = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
    bitmap.serialize(bytes);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
