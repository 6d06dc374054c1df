package colonnade.format;

/**
 * What the index knows about a block. {@code length} and {@code crc32c} are those of the stored
 * bytes; {@code decoded} bounds the bytes that the rows take as an Arrow array; {@code base} is
 * null but for narrowed blocks; a block without a Bloom filter has one of no bytes.
 */
public record BlockEntry(
    int rows,
    int length,
    long decoded,
    long crc32c,
    String encoding,
    Long base,
    Statistics statistics,
    int filterLength,
    long filterCrc32c) {
  /** A block without a filter. */
  public BlockEntry(
      int rows,
      int length,
      long decoded,
      long crc32c,
      String encoding,
      Long base,
      Statistics statistics) {
    this(rows, length, decoded, crc32c, encoding, base, statistics, 0, 0);
  }

  /** The same block with a filter of these bytes. */
  public BlockEntry withFilter(byte[] filter) {
    return new BlockEntry(
        rows, length, decoded, crc32c, encoding, base, statistics, filter.length,
        Segment.crc32c(filter));
  }
}
