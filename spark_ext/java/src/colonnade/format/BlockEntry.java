package colonnade.format;

/**
 * What the sparse index, or for a lone block the footer, states about one block.
 *
 * @param rows how many rows it holds
 * @param length how many bytes are stored
 * @param decoded the most bytes that the rows take as an Arrow array
 * @param crc32c the checksum of the stored bytes
 * @param encoding the name of the encoding; see docs/spec/rowset.md#encodings
 * @param base what {@code narrowed} values are distances from, null for other encodings
 * @param statistics what is known about the rows
 * @param filterLength the bytes of the Bloom filter, 0 without one
 * @param filterCrc32c the checksum of the Bloom filter, 0 without one
 */
public record BlockEntry(
    long rows,
    long length,
    long decoded,
    long crc32c,
    String encoding,
    Long base,
    Statistics statistics,
    long filterLength,
    long filterCrc32c) {
  /** A block without a filter. */
  public BlockEntry(
      long rows,
      long length,
      long decoded,
      long crc32c,
      String encoding,
      Long base,
      Statistics statistics) {
    this(rows, length, decoded, crc32c, encoding, base, statistics, 0, 0);
  }

  /** Returns the same block with a Bloom filter of these bytes. */
  public BlockEntry withFilter(byte[] filter) {
    return new BlockEntry(
        rows, length, decoded, crc32c, encoding, base, statistics, filter.length,
        Slice.of(filter).crc32c());
  }
}
