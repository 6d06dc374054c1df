package colonnade.write.staged;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.Bits;
import colonnade.write.refusals.GrowingArrays;
import colonnade.write.refusals.InvalidText;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;

/**
 * Arrays and maps: the position where the elements of each row end, and the elements of all rows.
 */
abstract class StagedLists extends Staged {
  final StagedBytes staged;
  private int[] offsets = new int[1025];

  StagedLists(TableField field, String path, StagedBytes staged) {
    super(field, path);
    this.staged = staged;
  }

  /** Appends the elements of a value other than NULL. Returns their number. */
  abstract int appendElements(SpecializedGetters from, int ordinal);

  /** Returns the size of an element in bytes, excluding values of variable length. */
  abstract int elementBytes();

  /** Returns the size of a range of elements in bytes. */
  abstract long elementBytes(int from, int to);

  /** Adds a range of elements as Arrow arrays. */
  abstract void addElements(ArrowBatch batch, int from, int to);

  @Override
  final void appendValue(SpecializedGetters from, int ordinal) {
    int elements = appendElements(from, ordinal);
    staged.total += (long) elements * elementBytes();
    endAt((long) offsets[rows] + elements);
  }

  /** Returns the same invalid text with the row that contains the element. */
  final InvalidText inRow(InvalidText element) {
    if (element == null) {
      return null;
    }
    int row = 0;
    while (offsets[row + 1] <= element.row()) {
      row++;
    }
    return element.inRow(row);
  }

  @Override
  final void appendSlot() {
    endAt(offsets[rows]);
  }

  private void endAt(long end) {
    offsets = GrowingArrays.withSlot(offsets, rows + 1, path);
    offsets[rows + 1] = Math.toIntExact(end);
  }

  @Override
  public final int slotBytes() {
    return 4;
  }

  @Override
  final long valueBytes(int from, int to) {
    return 4L * (to - from) + elementBytes(offsets[from], offsets[to]);
  }

  @Override
  final void addValues(ArrowBatch batch, int from, int to) {
    int first = offsets[from];
    byte[] ends = batch.buffer(GrowingArrays.byteSize(to - from + 1, 4, path));
    for (int row = from; row <= to; row++) {
      Bits.putInt(ends, 4 * (row - from), offsets[row] - first);
    }
    addElements(batch, first, offsets[to]);
  }

  /** {@code array}. */
  static final class Arrays extends StagedLists {
    private final Staged element;

    Arrays(TableField field, String path, StagedBytes staged, Staged element) {
      super(field, path, staged);
      this.element = element;
    }

    @Override
    int appendElements(SpecializedGetters from, int ordinal) {
      ArrayData array = from.getArray(ordinal);
      int elements = array.numElements();
      for (int i = 0; i < elements; i++) {
        element.append(array, i);
      }
      return elements;
    }

    @Override
    int elementBytes() {
      return element.slotBytes();
    }

    @Override
    long elementBytes(int from, int to) {
      return element.sizeBytes(from, to);
    }

    @Override
    void addElements(ArrowBatch batch, int from, int to) {
      element.addPlain(batch, from, to);
    }

    @Override
    public InvalidText invalidText() {
      return inRow(element.invalidText());
    }

    @Override
    void checkValues() {
      element.check(0);
    }

    @Override
    public void clear() {
      super.clear();
      element.clear();
    }
  }

  /** {@code map}, which Arrow represents as a list of structs of key and value. */
  static final class Maps extends StagedLists {
    private final Staged key;
    private final Staged value;

    Maps(TableField field, String path, StagedBytes staged, Staged key, Staged value) {
      super(field, path, staged);
      this.key = key;
      this.value = value;
    }

    @Override
    int appendElements(SpecializedGetters from, int ordinal) {
      MapData map = from.getMap(ordinal);
      int elements = map.numElements();
      ArrayData keys = map.keyArray();
      ArrayData values = map.valueArray();
      for (int i = 0; i < elements; i++) {
        key.append(keys, i);
        value.append(values, i);
      }
      return elements;
    }

    @Override
    int elementBytes() {
      return key.slotBytes() + value.slotBytes();
    }

    @Override
    long elementBytes(int from, int to) {
      return key.sizeBytes(from, to) + value.sizeBytes(from, to);
    }

    @Override
    void addElements(ArrowBatch batch, int from, int to) {
      batch.node(to - from, 0);
      batch.emptyBuffer();
      key.addPlain(batch, from, to);
      value.addPlain(batch, from, to);
    }

    @Override
    public InvalidText invalidText() {
      InvalidText inKeys = inRow(key.invalidText());
      return inKeys != null ? inKeys : inRow(value.invalidText());
    }

    @Override
    void checkValues() {
      key.check(0);
      value.check(0);
    }

    @Override
    public void clear() {
      super.clear();
      key.clear();
      value.clear();
    }
  }
}
