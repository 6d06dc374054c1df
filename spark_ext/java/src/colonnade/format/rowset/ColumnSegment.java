package colonnade.format.rowset;

import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.TableField;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * What the footer states about one column of a RowSet.
 *
 * <p>A valid footer has exactly one of {@code index} and {@code block}, because a lone block has no
 * index. Spec: docs/spec/rowset.md#footer
 *
 * @param type the type of the column that its values were written with; of a nested type only its
 *     kind
 * @param offset the position of the blocks in their object
 * @param length the number of bytes of the blocks
 * @param decoded the most bytes that the rows take as Arrow arrays
 * @param index the position of the sparse index
 * @param block what an index would state about the lone block
 * @param filters the position of the Bloom filters; null without any
 * @param statistics the bounds and counts of all rows
 */
public record ColumnSegment(
    String type,
    long offset,
    long length,
    long decoded,
    Extent index,
    LoneBlock block,
    Filters filters,
    Statistics.Texts statistics) {
  private static final Set<String> KEYS =
      Set.of("type", "offset", "length", "decoded", "index", "block", "filters", "statistics");
  private static final long COUNT_LIMIT = (1L << 53) - 1;
  private static final long CRC_LIMIT = (1L << 32) - 1;

  /** A range of bytes in an object, with its checksum. */
  public record Extent(long offset, long length, long crc32c) {}

  /**
   * What the footer states about a lone block. The segment states the rows and bounds of the block.
   */
  public record LoneBlock(long crc32c, String encoding, Long base) {}

  /**
   * The position of the Bloom filters in the object of the index. {@code crc32c} is the checksum of
   * the filter of a lone block. It is null for several blocks, whose index has the checksums.
   */
  public record Filters(long offset, long length, Long crc32c) {  }

  /**
   * Returns the segment of a column that has been written. The bytes of its index are null for a
   * lone block.
   */
  public static ColumnSegment of(
      TableField column,
      List<BlockEntry> blocks,
      long offset,
      long filterOffset,
      byte[] index,
      long indexOffset) {
    BlockEntry lone = index == null ? blocks.get(0) : null;
    long filterLength = blocks.stream().mapToLong(BlockEntry::filterLength).sum();
    Long filterCrc32c = lone == null ? null : (Long) lone.filterCrc32c();
    return new ColumnSegment(
        column.type(),
        offset,
        blocks.stream().mapToLong(BlockEntry::length).sum(),
        blocks.stream().mapToLong(BlockEntry::decoded).sum(),
        index == null ? null : new Extent(indexOffset, index.length, Slice.of(index).crc32c()),
        lone == null ? null : new LoneBlock(lone.crc32c(), lone.encoding(), lone.base()),
        filterLength == 0 ? null : new Filters(filterOffset, filterLength, filterCrc32c),
        Statistics.merge(blocks).prefixed(column.prefix()));
  }

  /** Returns the position of the Bloom filters in the object of the index; 0 without any. */
  public long filterOffset() {
    return filters == null ? 0 : filters.offset();
  }

  /** Returns the number of bytes of the Bloom filters. */
  public long filterLength() {
    return filters == null ? 0 : filters.length();
  }

  /** Whether at least one block has a Bloom filter. */
  public boolean hasFilters() {
    return filters != null;
  }

  /**
   * Returns what an index would state about the lone block. Requires: {@code block} is not null.
   *
   * @param rows the number of rows of the RowSet
   * @param column the column with the type that this segment states
   * @throws Malformed if the filter or the bounds are impossible
   */
  public BlockEntry entry(long rows, TableField column) throws Malformed {
    boolean whole = filters == null || filters.crc32c() != null;
    if (!whole || !SparseIndex.isFilterLength(filterLength())) {
      throw new Malformed("what the footer says of its Bloom filter cannot be");
    }
    return new BlockEntry(
        rows,
        length,
        decoded,
        block.crc32c(),
        block.encoding(),
        block.base(),
        statistics.of(column),
        filterLength(),
        filters == null ? 0 : filters.crc32c());
  }

  static ColumnSegment parse(JsonObject json) throws IOException {
    json.only(KEYS);
    Statistics.Texts statistics = Statistics.Texts.parse(json.object("statistics"));
    return new ColumnSegment(
        json.text("type"),
        json.integer("offset", 0, COUNT_LIMIT),
        json.integer("length", 0, COUNT_LIMIT),
        json.integer("decoded", 0, COUNT_LIMIT),
        json.has("index") ? extent(json.object("index")) : null,
        json.has("block") ? block(json.object("block")) : null,
        json.has("filters") ? filters(json.object("filters")) : null,
        statistics);
  }

  private static Extent extent(JsonObject json) throws IOException {
    json.only(Set.of("offset", "length", "crc32c"));
    return new Extent(
        json.integer("offset", 0, COUNT_LIMIT),
        json.integer("length", 0, COUNT_LIMIT),
        json.integer("crc32c", 0, CRC_LIMIT));
  }

  private static LoneBlock block(JsonObject json) throws IOException {
    json.only(Set.of("crc32c", "encoding", "base"));
    return new LoneBlock(
        json.integer("crc32c", 0, CRC_LIMIT),
        json.text("encoding"),
        json.has("base") ? json.integer("base", Long.MIN_VALUE, Long.MAX_VALUE) : null);
  }

  private static Filters filters(JsonObject json) throws IOException {
    json.only(Set.of("offset", "length", "crc32c"));
    return new Filters(
        json.integer("offset", 0, COUNT_LIMIT),
        json.integer("length", 0, COUNT_LIMIT),
        json.has("crc32c") ? json.integer("crc32c", 0, CRC_LIMIT) : null);
  }
}
