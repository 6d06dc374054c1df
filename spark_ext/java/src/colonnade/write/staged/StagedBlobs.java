package colonnade.write.staged;

import colonnade.format.ArrowBatch;
import colonnade.format.ArrowField;
import colonnade.format.ArrowType;
import colonnade.format.Statistics;
import colonnade.format.TableField;
import java.util.Arrays;

/** Values that are byte ranges of one array: strings, binary, and long decimals. */
abstract class StagedBlobs extends Staged {
  byte[] bytes = new byte[4096];

  StagedBlobs(TableField field, String path) {
    super(field, path);
  }

  /** Returns the position at which the value of a row begins. */
  abstract int start(int row);

  /** Returns the position at which the value of a row ends. */
  abstract int end(int row);

  /** Returns the number of bytes that Arrow needs for the offset of a value. */
  abstract int offsetBytes();

  abstract ArrowType type();

  /** Returns the statistics of rows. Requires: the rows are not all NULL. */
  abstract Statistics measure(int from, int to, BytesDictionary values);

  /** Adds the values of a dictionary as an Arrow array. */
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
    double distinctShare = encoder.choices().distinctTexts();
    long rival = sizeBytes(from, to);
    boolean hasDictionary = dictionary.build(this, from, to, distinctShare, rival);
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

  /** Encodes rows without a dictionary, because a dictionary does not make them smaller. */
  EncodedBlock encodeEach(BlockEncoder encoder, int from, int to, Statistics statistics) {
    return encoder.plain(this, from, to, statistics);
  }

  /** Compares the values of two rows byte by byte. */
  final int compareBytes(int left, int right) {
    return Arrays.compareUnsigned(
        bytes, start(left), end(left), bytes, start(right), end(right));
  }
}
