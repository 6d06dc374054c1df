package colonnade.write.staged;

import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.Bits;
import java.util.Arrays;

/** The distinct values of a block of strings, binary or long decimals. */
public final class BytesDictionary extends Dictionary<StagedBlobs> {
  public BytesDictionary(EncodingChoices choices) {
    super(choices);
  }

  @Override
  int hash(StagedBlobs column, int row) {
    byte[] bytes = column.bytes;
    int at = column.start(row);
    int end = column.end(row);
    long hash = end - at;
    for (; at + 8 <= end; at += 8) {
      hash = mix(hash ^ Bits.getLong(bytes, at));
    }
    if (at < end) {
      long rest = 0;
      for (; at < end; at++) {
        rest = rest << 8 | bytes[at] & 0xFF;
      }
      hash = mix(hash ^ rest);
    }
    return (int) hash;
  }

  @Override
  boolean isSame(StagedBlobs column, int left, int right) {
    byte[] bytes = column.bytes;
    return Arrays.equals(
        bytes, column.start(left), column.end(left), bytes, column.start(right), column.end(right));
  }

  @Override
  int bytesOf(StagedBlobs column, int row) {
    return column.end(row) - column.start(row) + column.offsetBytes();
  }

  @Override
  void addValues(StagedBlobs column, ArrowBatch batch) {
    column.addDictionary(batch, this);
  }
}
