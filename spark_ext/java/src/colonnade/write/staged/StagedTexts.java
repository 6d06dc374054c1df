package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.TextLength;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.Bits;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.GrowingArrays;
import colonnade.write.refusals.InvalidText;
import colonnade.write.refusals.Refusal;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** Strings of any type, or binary. */
public final class StagedTexts extends StagedBlobs {
  private final boolean isText;
  private final TextLength declared;
  private final StagedBytes staged;
  private int[] offsets = new int[1025];

  /** Creates a staged column. {@code staged} counts the bytes of all columns. */
  StagedTexts(TableField field, String path, StagedBytes staged) {
    super(field, path);
    isText = field.base().equals("string");
    declared = field.length();
    this.staged = staged;
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    if (isText) {
      UTF8String text = from.getUTF8String(ordinal);
      appendText(declared.isFree() ? text : declared.fit(text));
    } else {
      appendBytes(from.getBinary(ordinal));
    }
  }

  @Override
  public void appendAll(RowBuffer source, int ordinal) {
    if (!declared.isFree()) {
      super.appendAll(source, ordinal);
      return;
    }
    for (int i = 0; i < source.rows(); i++) {
      if (source.isNull(i, ordinal)) {
        appendNull();
        continue;
      }
      int start = offsets[rows];
      int length = source.length(i, ordinal);
      bytes = GrowingArrays.withRoom(bytes, start, length, path);
      source.copy(i, ordinal, length, bytes, start);
      endAt(start + length);
      staged.total += length;
      rows++;
    }
  }

  private void appendText(UTF8String text) {
    int start = offsets[rows];
    int length = text.numBytes();
    bytes = GrowingArrays.withRoom(bytes, start, length, path);
    text.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + start);
    endAt(start + length);
    staged.total += length;
  }

  /** Appends binary. {@code rows} does not count it yet. */
  private void appendBytes(byte[] value) {
    int start = offsets[rows];
    bytes = GrowingArrays.withRoom(bytes, start, value.length, path);
    System.arraycopy(value, 0, bytes, start, value.length);
    endAt(start + value.length);
    staged.total += value.length;
  }

  /** Appends binary other than NULL. */
  void append(byte[] value) {
    appendBytes(value);
    rows++;
  }

  @Override
  void appendSlot() {
    endAt(offsets[rows]);
  }

  private void endAt(int end) {
    offsets = GrowingArrays.withSlot(offsets, rows + 1, path);
    offsets[rows + 1] = end;
  }

  @Override
  public int start(int row) {
    return offsets[row];
  }

  @Override
  public int end(int row) {
    return offsets[row + 1];
  }

  @Override
  int offsetBytes() {
    return 4;
  }

  @Override
  public int slotBytes() {
    return 4;
  }

  @Override
  public InvalidText invalidText() {
    if (!isText || Utf8.isAscii(bytes, 0, offsets[rows])) {
      return null;
    }
    for (int row = 0; row < rows; row++) {
      if (!Utf8.isValid(bytes, offsets[row], offsets[row + 1])) {
        return new InvalidText(path, field.type(), row);
      }
    }
    return null;
  }

  @Override
  void checkValues() {
    int limit = declared.most();
    int longest = 0;
    for (int row = 0; row < rows && limit < Integer.MAX_VALUE; row++) {
      // A value never has more code points than bytes.
      if (offsets[row + 1] - offsets[row] > limit) {
        longest = Math.max(longest, Utf8.codePoints(bytes, offsets[row], offsets[row + 1]));
      }
    }
    if (longest > limit) {
      throw Refusal.tooLong(
          "Column " + ColumnNames.quote(path) + " is " + field.type()
              + ", but the data has a value of " + longest
              + " characters; shorten the value, or make the column longer.");
    }
  }

  @Override
  void addValues(ArrowBatch batch, int from, int to) {
    int first = offsets[from];
    byte[] ends = batch.buffer(GrowingArrays.byteSize(to - from + 1, 4, path));
    for (int row = from; row <= to; row++) {
      Bits.putInt(ends, 4 * (row - from), offsets[row] - first);
    }
    addBytes(batch, from, to);
  }

  /** Adds the bytes of all values, back to back. */
  public void addBytes(ArrowBatch batch, int from, int to) {
    batch.lend(bytes, offsets[from], offsets[to] - offsets[from]);
  }

  @Override
  void addDictionary(ArrowBatch batch, BytesDictionary values) {
    int count = values.count();
    batch.node(count, 0);
    batch.emptyBuffer();
    byte[] ends = batch.buffer(4 * (count + 1));
    int end = 0;
    Bits.putInt(ends, 0, 0);
    for (int id = 0; id < count; id++) {
      end += end(values.firstRow(id)) - start(values.firstRow(id));
      Bits.putInt(ends, 4 * (id + 1), end);
    }
    byte[] target = batch.buffer(end);
    int at = 0;
    for (int id = 0; id < count; id++) {
      int start = start(values.firstRow(id));
      int length = end(values.firstRow(id)) - start;
      System.arraycopy(bytes, start, target, at, length);
      at += length;
    }
  }

  @Override
  public Statistics measure(int from, int to, Dictionary<?> values) {
    int nullCount = nulls.count(from, to);
    if (field.order() == TableField.Order.NONE) {
      return Statistics.unbounded(nullCount, 0, false);
    }
    int count = values == null ? to - from : values.count();
    int low = -1;
    int high = -1;
    for (int i = 0; i < count; i++) {
      int row = values == null ? from + i : values.firstRow(i);
      if (values == null && nullCount > 0 && nulls.get(row)) {
        continue;
      }
      if (low < 0) {
        low = high = row;
      } else if (compareBytes(row, low) < 0) {
        low = row;
      } else if (compareBytes(row, high) > 0) {
        high = row;
      }
    }
    return new Statistics(nullCount, 0, bound(low), bound(high), true)
        .shorten(Statistics.INDEX_BOUND_LENGTH);
  }

  /**
   * Returns the value of a row as a bound. A long value is cut to a length that still shows that
   * the bound must be shortened.
   */
  private Bound bound(int row) {
    int start = start(row);
    if (!isText) {
      int end = Math.min(end(row), start + Statistics.INDEX_BOUND_LENGTH + 1);
      return new Bound.Raw(Arrays.copyOfRange(bytes, start, end));
    }
    int end = Utf8.endOf(bytes, start, end(row), Statistics.INDEX_BOUND_LENGTH + 1);
    return new Bound.Text(UTF8String.fromBytes(Arrays.copyOfRange(bytes, start, end)));
  }

  @Override
  long hash(int row) {
    return BloomFilter.hash(bytes, start(row), end(row));
  }

  @Override
  public Comparable<?> sortValue(int row) {
    return nulls.get(row)
        ? null
        : new SortedBytes(Arrays.copyOfRange(bytes, start(row), end(row)));
  }

  /** Bytes that are compared as unsigned numbers. */
  private record SortedBytes(byte[] value) implements Comparable<SortedBytes> {
    @Override
    public int compareTo(SortedBytes other) {
      return Arrays.compareUnsigned(value, other.value);
    }
  }
}
