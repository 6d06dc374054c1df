package colonnade.write;

/**
 * What the index knows about a block. {@code length} and {@code crc32c} are those of the stored
 * bytes; {@code decoded} bounds the bytes that the rows take as an Arrow array; {@code base} is
 * null but for narrowed blocks.
 */
record BlockEntry(
    int rows,
    int length,
    long decoded,
    long crc32c,
    String encoding,
    Long base,
    Statistics statistics) {}
