package colonnade.write.staged;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import java.util.Arrays;

/** Values that are byte ranges of one array: strings, binary, and long decimals. */
public abstract class StagedBlobs extends Staged {
  byte[] bytes = new byte[4096];

  StagedBlobs(TableField field, String path) {
    super(field, path);
  }

  /** Returns the position at which the value of a row begins. */
  public abstract int start(int row);

  /** Returns the position at which the value of a row ends. */
  public abstract int end(int row);

  /** Returns the number of bytes that Arrow needs for the offset of a value. */
  abstract int offsetBytes();

  /** Adds the values of a dictionary as an Arrow array. */
  abstract void addDictionary(ArrowBatch batch, BytesDictionary values);

  @Override
  final long valueBytes(int from, int to) {
    return (long) offsetBytes() * (to - from) + start(to) - start(from);
  }

  /** Compares the values of two rows byte by byte. */
  final int compareBytes(int left, int right) {
    return Arrays.compareUnsigned(
        bytes, start(left), end(left), bytes, start(right), end(right));
  }
}
