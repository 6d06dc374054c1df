package colonnade.write.staged;

import colonnade.format.ArrowBatch;
import colonnade.format.ArrowField;
import colonnade.format.ArrowType;
import colonnade.format.Statistics;
import colonnade.format.TableField;
import java.util.Arrays;

/** Values that are runs of bytes in one array: strings, binary, and long decimals. */
abstract class StagedBlobs extends Staged {
  private static final double DISTINCT_SHARE = 0.9;

  byte[] bytes = new byte[4096];

  StagedBlobs(TableField field, String path) {
    super(field, path);
  }

  /** Where the value of a row begins. */
  abstract int start(int row);

  /** Where the value of a row ends. */
  abstract int end(int row);

  /** Bytes that Arrow spends on finding a value. */
  abstract int offsetBytes();

  abstract ArrowType type();

  /** The bounds of rows, of which not all are NULL. */
  abstract Statistics measure(int from, int to, BytesDictionary values);

  /** Add the values of a dictionary as an Arrow array. */
  abstract void addDictionary(ArrowBatch batch, BytesDictionary values);

  @Override
  final long valueBytes(int from, int to) {
    return (long) offsetBytes() * (to - from) + start(to) - start(from);
  }

  @Override
  final ArrowField arrow() {
    return ArrowField.of(storageName(), type());
  }

  @Override
  final EncodedBlock encode(BlockEncoder encoder, int from, int to) {
    BytesDictionary dictionary = encoder.bytesDictionary();
    long rival = sizeBytes(from, to);
    boolean hasDictionary = dictionary.build(this, from, to, DISTINCT_SHARE, rival);
    Statistics statistics = measure(from, to, hasDictionary ? dictionary : null);
    if (statistics.nulls() == 0
        && statistics.exact()
        && statistics.low() != null
        && statistics.low().compare(statistics.high()) == 0) {
      return encoder.constant(this, from, to, statistics);
    }
    return hasDictionary
        ? encoder.dictionary(this, from, to, statistics, dictionary)
        : encodeEach(encoder, from, to, statistics);
  }

  /** Encode rows one by one, as no dictionary helps. */
  EncodedBlock encodeEach(BlockEncoder encoder, int from, int to, Statistics statistics) {
    return encoder.plain(this, from, to, statistics);
  }

  /** Compare the values of two rows byte by byte. */
  final int compareBytes(int left, int right) {
    return Arrays.compareUnsigned(
        bytes, start(left), end(left), bytes, start(right), end(right));
  }
}
