package colonnade.write.staged;

import java.util.Map;

/**
 * How a writer compresses, and when it chooses which encoding, as Python has decided. Readers
 * understand every choice.
 *
 * @param compressionLevel the level of zstd
 * @param compressFromBytes the fewest bytes of a stream that are compressed
 * @param compressedShare a compressed stream is kept if it takes less than this share
 * @param filterBits the bits of a Bloom filter for each distinct value
 * @param limits when a writer chooses an encoding, by its name and that of the limit; Python's
 *     module of the encoding says what each of them means
 */
public record EncodingChoices(
    int compressionLevel,
    int compressFromBytes,
    double compressedShare,
    int filterBits,
    Map<String, Map<String, Double>> limits) {
  /** Returns a limit of an encoding. Requires: Python states it. */
  public double limit(String encoding, String name) {
    return limits.get(encoding).get(name);
  }
}
