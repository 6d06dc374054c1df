package colonnade.format.rowset;

import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
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

  /** Returns the bitmap of the lower 32 bits in base64, by the upper 32 bits. */
  @JsonValue
  Map<String, String> texts() {
    Map<String, String> texts = new LinkedHashMap<>();
    bitmaps.forEach((upper, rows) -> texts.put(Integer.toUnsignedString(upper), text(rows)));
    return texts;
  }

  private static String text(RoaringBitmap bitmap) {
    bitmap.runOptimize();
    ByteBuffer bytes = ByteBuffer.allocate(bitmap.serializedSizeInBytes());
    bitmap.serialize(bytes);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
