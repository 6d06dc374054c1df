package colonnade.write.staged;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * How a writer compresses, and when it chooses which encoding, as Python has decided. Readers
 * understand every choice.
 *
 * @param compressionLevel the level of zstd
 * @param compressFromBytes the fewest bytes of a stream that are compressed
 * @param compressedShare a compressed stream is kept if it takes less than this share
 * @param sampleRows the first rows of a block that decide whether a large dictionary is tried
 * @param dictionaryShare a dictionary is kept if it takes at most this share of the bytes that it
 *     replaces
 * @param dictionaryBytes the bytes that a dictionary costs besides its values and indexes
 * @param distinctTexts the most distinct texts for which a dictionary is tried, as a share
 * @param distinctNumbers the most distinct numbers of more than two bytes, as such a share
 * @param distinctShorts the most distinct numbers of two bytes, as such a share
 * @param lengthsFromRows the fewest rows of texts that are stored as lengths
 * @param filterBits the bits of a Bloom filter for each distinct value
 */
public record EncodingChoices(
    int compressionLevel,
    int compressFromBytes,
    double compressedShare,
    int sampleRows,
    double dictionaryShare,
    int dictionaryBytes,
    double distinctTexts,
    double distinctNumbers,
    double distinctShorts,
    int lengthsFromRows,
    int filterBits) {
  /** Reads the part {@code encoding} of the JSON that a writing task gets. */
  public static EncodingChoices parse(JsonNode encoding) {
    return new EncodingChoices(
        encoding.get("compression_level").intValue(),
        encoding.get("compress_from_bytes").intValue(),
        encoding.get("compressed_share").doubleValue(),
        encoding.get("sample_rows").intValue(),
        encoding.get("dictionary_share").doubleValue(),
        encoding.get("dictionary_bytes").intValue(),
        encoding.get("distinct_texts").doubleValue(),
        encoding.get("distinct_numbers").doubleValue(),
        encoding.get("distinct_shorts").doubleValue(),
        encoding.get("lengths_from_rows").intValue(),
        encoding.get("filter_bits").intValue());
  }
}
