package colonnade.format;

import colonnade.format.TableField.Order;
import java.util.List;
import java.util.Set;

/**
 * The sparse index of a column segment: one entry for each block. The blocks lie back to back.
 *
 * <p>{@code firstRows}, {@code offsets} and {@code filterOffsets} (of the Bloom filters, which lie
 * elsewhere) have one element more than there are blocks: the rows and the bytes of the segment,
 * and the bytes of all filters.
 *
 * <p>Spec: docs/spec/rowset.md#sparse-index
 */
public record SparseIndex(
    List<BlockEntry> entries, long[] firstRows, long[] offsets, long[] filterOffsets) {
  /** The encodings that a block may have. */
  public static final Set<String> ENCODINGS =
      Set.of("plain", "dictionary", "narrowed", "lengths", "constant", "null");

  /** The columns of an index, in their stored order. */
  public enum Column {
    FIRST_ROW("first_row"),
    ROWS("rows"),
    OFFSET("offset"),
    LENGTH("length"),
    DECODED("decoded"),
    CRC32C("crc32c"),
    ENCODING("encoding"),
    BASE("base"),
    NULLS("nulls"),
    NANS("nans"),
    MIN("min"),
    MAX("max"),
    EXACT("exact"),
    FILTER_LENGTH("filter_length"),
    FILTER_CRC32C("filter_crc32c");

    private final String label;

    Column(String label) {
      this.label = label;
    }

    /** The name of the Arrow field. */
    public String label() {
      return label;
    }

    /** Whether a block may have no value in this column. */
    public boolean isNullable() {
      return this == BASE || isBound();
    }

    /** Whether the values are bounds, whose type depends on the column that is indexed. */
    public boolean isBound() {
      return this == MIN || this == MAX;
    }

    /** Whether the values are checksums, which are unsigned integers of 32 bits. */
    public boolean isChecksum() {
      return this == CRC32C || this == FILTER_CRC32C;
    }
  }

  /**
   * The columns that an index has. Only values with an order have bounds, and only columns with
   * bounds have Bloom filters.
   */
  public static List<Column> columns(Order order, boolean filters) {
    Column end = order == Order.NONE ? Column.MIN : filters ? null : Column.FILTER_LENGTH;
    List<Column> all = List.of(Column.values());
    return end == null ? all : all.subList(0, end.ordinal());
  }

  /** Makes the index of blocks that lie back to back. */
  public static SparseIndex of(List<BlockEntry> entries) {
    long[] rows = new long[entries.size() + 1];
    long[] offsets = new long[entries.size() + 1];
    long[] filters = new long[entries.size() + 1];
    for (int i = 0; i < entries.size(); i++) {
      rows[i + 1] = rows[i] + entries.get(i).rows();
      offsets[i + 1] = offsets[i] + entries.get(i).length();
      filters[i + 1] = filters[i] + entries.get(i).filterLength();
    }
    return new SparseIndex(List.copyOf(entries), rows, offsets, filters);
  }

  /** Whether a Bloom filter may have this many bytes; a block without a filter has 0. */
  public static boolean isFilterLength(long length) {
    return length >= 0 && length <= BloomFilter.LIMIT && length % BloomFilter.BUCKET_BYTES == 0;
  }

  /** Whether some of the blocks have Bloom filters. */
  public boolean hasFilters() {
    return filterOffsets[entries.size()] > 0;
  }
}
