package colonnade.write.staged;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.Statistics;
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

  /** Returns the statistics of rows. Requires: the rows are not all NULL. */
  abstract Statistics measure(int from, int to, BytesDictionary values);

  /** Adds the values of a dictionary as an Arrow array. */
  abstract void addDictionary(ArrowBatch batch, BytesDictionary values);

  @Override
  final long valueBytes(int from, int to) {
    return (long) offsetBytes() * (to - from) + start(to) - start(from);
  }

  @Override
  final Statistics measureValues(StagedRows rows) {
    return measure(rows.from(), rows.to(), (BytesDictionary) rows.dictionary());
  }

  @Override
  final Dictionary<?> dictionary(StagedRows rows) {
    double share = rows.encoder().choices().limit(Encoding.DICTIONARY, "distinct_texts");
    BytesDictionary dictionary = rows.encoder().bytesDictionary();
    boolean smaller = dictionary.build(this, rows.from(), rows.to(), share, rows.size());
    return smaller ? dictionary : null;
  }

  /** Compares the values of two rows byte by byte. */
  final int compareBytes(int left, int right) {
    return Arrays.compareUnsigned(
        bytes, start(left), end(left), bytes, start(right), end(right));
  }
}
