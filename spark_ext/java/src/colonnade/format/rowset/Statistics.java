package colonnade.format.rowset;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The statistics of a set of rows of one column.
 *
 * <p>Bounds may be too wide but never too narrow. Spec: docs/spec/rowset.md#bounds
 *
 * @param nulls the number of NULL rows
 * @param nans the number of NaN rows
 * @param low a lower bound of all other values; null if and only if {@code high} is null
 * @param high an upper bound of all other values
 * @param exact whether both bounds are values that occur, or the rows have only NULL and NaN
 */
public record Statistics(long nulls, long nans, Bound low, Bound high, boolean exact) {
  /** The most code points or bytes of a bound in the index and the footer. */
  public static final int INDEX_BOUND_LENGTH = 64;

  /** The most code points or bytes of a bound in the log. */
  static final int LOG_BOUND_LENGTH = 32;

  /** Returns statistics without bounds. */
  public static Statistics unbounded(long nulls, long nans, boolean exact) {
    return new Statistics(nulls, nans, null, null, exact);
  }

  /**
   * Shortens the bounds of strings and binary to {@code length} code points or bytes. Drops both
   * bounds if no upper bound of that length is large enough.
   */
  public Statistics shorten(int length) {
    if (low == null || (low.length() <= length && high.length() <= length)) {
      return this;
    }
    Bound above = high.above(length);
    return above == null
        ? unbounded(nulls, nans, false)
        : new Statistics(nulls, nans, low.below(length), above, false);
  }

  /**
   * Returns the statistics that the log stores. Bounds of strings and binary are shortened if their
   * text is long.
   */
  public Statistics forLog() {
    return low == null || (isShort(low) && isShort(high)) ? this : shorten(LOG_BOUND_LENGTH);
  }

  private static boolean isShort(Bound bound) {
    String text = bound.prefixed("s");
    return text.codePointCount(0, text.length()) <= LOG_BOUND_LENGTH;
  }

  /** Returns the statistics of all rows of the given blocks. */
  public static Statistics merge(List<BlockEntry> blocks) {
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

  /** Returns the statistics in the form that the footer and the log store. */
  public Texts prefixed(String prefix) {
    return new Texts(
        low == null ? null : low.prefixed(prefix),
        high == null ? null : high.prefixed(prefix),
        nulls,
        nans,
        exact);
  }

  /** Statistics in JSON. Each bound is a text with a prefix that names its type. */
  public record Texts(String min, String max, long nulls, long nans, boolean exact) {
    private static final Set<String> KEYS = Set.of("min", "max", "nulls", "nans", "exact");
    private static final long COUNT_LIMIT = (1L << 53) - 1;

    static Texts parse(JsonObject json) throws IOException {
      json.only(KEYS);
      return new Texts(
          json.has("min") ? json.text("min") : null,
          json.has("max") ? json.text("max") : null,
          json.has("nulls") ? json.integer("nulls", 0, COUNT_LIMIT) : 0,
          json.has("nans") ? json.integer("nans", 0, COUNT_LIMIT) : 0,
          json.flag("exact", true));
    }

    /**
     * Parses the statistics of a column.
     *
     * @throws Malformed if its values cannot have such bounds
     */
    public Statistics of(TableField column) throws Malformed {
      boolean ordered = column.order() != TableField.Order.NONE;
      if (!ordered && (min != null || max != null)) {
        throw new Malformed("values of type " + column.type() + " have no bounds");
      }
      Bound low = min == null ? null : Bound.parse(min, column);
      Bound high = max == null ? null : Bound.parse(max, column);
      boolean known = low != null && high != null;
      return new Statistics(nulls, nans, known ? low : null, known ? high : null, exact);
    }
  }
}
