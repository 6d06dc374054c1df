package colonnade.read;

/**
 * What the index says about one block; {@code base} is null unless it is narrowed, and a block
 * without a Bloom filter has one of no bytes.
 */
public record BlockEntry(
    long rows, long length, long decoded, long crc32c, String encoding, Long base,
    Statistics statistics, long filterLength, long filterCrc32c) {}
