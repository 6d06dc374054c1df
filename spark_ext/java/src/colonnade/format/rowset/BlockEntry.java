package colonnade.format.rowset;

import colonnade.format.Slice;

/**
 * What an index states about one block. The sparse index states it, or the footer for a lone block.
 *
 * @param rows the number of rows
 * @param length the number of stored bytes
 * @param decoded the most bytes that the rows take as an Arrow array
 * @param crc32c the checksum of the stored bytes
 * @param encoding the name of the encoding; see docs/spec/rowset.md#encodings
 * @param base the number that is added to each {@code narrowed} value; null for other encodings
 * @param statistics the bounds and counts of the rows
 * @param filterLength the length of the Bloom filter in bytes; 0 without a filter
 * @param filterCrc32c the checksum of the Bloom filter; 0 without a filter
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
  /** Creates the entry of a block without a Bloom filter. */
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

  /** Returns the entry of the same block with the given bytes as its Bloom filter. */
  public BlockEntry withFilter(byte[] filter) {
    return new BlockEntry(
        rows, length, decoded, crc32c, encoding, base, statistics, filter.length,
        Slice.of(filter).crc32c());
  }
}
