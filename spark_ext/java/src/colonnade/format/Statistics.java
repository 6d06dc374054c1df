package colonnade.format;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.List;

/**
 * What is known about some rows of a column: {@code low} and {@code high} are both set or both
 * null, and {@code exact} says that both are values that occur (or that there is no value at all).
 *
 * <p>Bounds may be too wide, never too narrow. Spec: docs/spec/rowset.md#bounds
 */
public record Statistics(long nulls, long nans, Bound low, Bound high, boolean exact) {
  /** Code points or bytes that a bound keeps in the index and the footer. */
  public static final int INDEX_BOUND_LENGTH = 64;

  /** Code points or bytes that a bound keeps in the log. */
  static final int LOG_BOUND_LENGTH = 32;

  /** Rows without bounds. */
  public static Statistics unbounded(long nulls, long nans, boolean exact) {
    return new Statistics(nulls, nans, null, null, exact);
  }

  /** Cut string and binary bounds; both go when nothing of that length is large enough. */
  public Statistics shorten(int length) {
    if (low == null || (low.length() <= length && high.length() <= length)) {
      return this;
    }
    Bound above = high.above(length);
    return above == null
        ? unbounded(nulls, nans, false)
        : new Statistics(nulls, nans, low.below(length), above, false);
  }

  /** As the log states them: shorter, where a bound as text is long. */
  Statistics forLog() {
    return low == null || (isShort(low) && isShort(high)) ? this : shorten(LOG_BOUND_LENGTH);
  }

  private static boolean isShort(Bound bound) {
    String text = bound.tagged();
    return text.codePointCount(0, text.length()) <= LOG_BOUND_LENGTH;
  }

  /** Statistics of all rows of some blocks. */
  static Statistics merge(List<BlockEntry> blocks) {
    long nulls = 0;
    long nans = 0;
    boolean exact = true;
    boolean open = false;
    Bound low = null;
    Bound high = null;
    for (BlockEntry block : blocks) {
      Statistics each = block.statistics();
      nulls += each.nulls;
      nans += each.nans;
      exact &= each.exact;
      open |= each.low == null && each.nulls + each.nans < block.rows();
      if (each.low != null) {
        low = low == null || each.low.compare(low) < 0 ? each.low : low;
        high = high == null || each.high.compare(high) > 0 ? each.high : high;
      }
    }
    return open
        ? unbounded(nulls, nans, false)
        : new Statistics(nulls, nans, low, high, exact);
  }

  /** Write the JSON object that the footer and the log hold. */
  void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    if (low != null) {
      json.writeStringField("min", low.tagged());
      json.writeStringField("max", high.tagged());
    }
    json.writeNumberField("nulls", nulls);
    json.writeNumberField("nans", nans);
    json.writeBooleanField("exact", exact);
    json.writeEndObject();
  }
}
