package colonnade.write.staged;

import colonnade.format.arrow.ArrowBatch;
import java.util.Arrays;

/**
 * The distinct values of a block in order of appearance, with the index of each row's value. The
 * memory is reused from block to block.
 *
 * <p>There are exactly two subclasses, so that the JIT compiler can inline their methods. Spec:
 * docs/spec/rowset.md#dictionary
 */
public abstract class Dictionary<C extends Staged> {
  private static final int SMALL = 1024;

  private final int sampleRows;
  private final double keptShare;
  private final int overheadBytes;
  private final ArrowBatch values = new ArrowBatch();
  private C column;
  private int[] firstRows = new int[SMALL];
  private int[] hashes = new int[SMALL];
  private int[] slots = new int[2 * SMALL];
  private int[] ids = new int[0];
  private int count;
  private long valueBytes;

  Dictionary(EncodingChoices choices) {
    sampleRows = (int) choices.limit("dictionary", "sample_rows");
    keptShare = choices.limit("dictionary", "kept_share");
    overheadBytes = (int) choices.limit("dictionary", "overhead_bytes");
  }

  /** Returns the distinct values as an Arrow array, which is valid until the next block. */
  public final ArrowBatch values() {
    values.clear();
    addValues(column, values);
    return values;
  }

  abstract void addValues(C column, ArrowBatch batch);

  abstract int hash(C column, int row);

  abstract boolean isSame(C column, int left, int right);

  /** Returns the size of a row's value in an Arrow array, in bytes. */
  abstract int bytesOf(C column, int row);

  /**
   * Collects the distinct values of a range. Returns false unless the dictionary is clearly smaller
   * than {@code rivalBytes}. The dictionary is then unusable.
   *
   * <p>NULL rows get index 0. Stops early if the share of distinct values among the first rows is
   * above {@code distinctShare}.
   */
  public final boolean build(C column, int from, int to, double distinctShare, long rivalBytes) {
    int rows = to - from;
    if (rivalBytes < overheadBytes) {
      return false;
    }
    this.column = column;
    begin(rows);
    boolean isSampled = rows > 2 * sampleRows;
    int sampled = isSampled ? from + sampleRows : to;
    if (!add(column, from, from, sampled, rivalBytes)) {
      return false;
    }
    int different = count + (column.nulls.count(from, sampled) > 0 ? 1 : 0);
    if (isSampled && different > distinctShare * sampleRows) {
      return false;
    }
    long most = (long) (keptShare * rivalBytes);
    return add(column, from, sampled, to, rivalBytes)
        && valueBytes + (long) rows * indexWidth() + overheadBytes <= most;
  }

  /** Returns the width of an index in bytes. */
  public final int indexWidth() {
    return count <= 1 << 7 ? 1 : count <= 1 << 15 ? 2 : 4;
  }

  /** Returns the number of distinct values. */
  final int count() {
    return count;
  }

  /** Returns the first row that has a value. */
  final int firstRow(int id) {
    return firstRows[id];
  }

  /** Returns the value index of each row, counted from the first row of the range. */
  public final int[] ids() {
    return ids;
  }

  private void begin(int rows) {
    if (ids.length < rows) {
      ids = new int[rows];
    }
    if (slots.length > 4 * Math.max(count, SMALL / 2)) {
      // A small table keeps few values close together in memory.
      slots = new int[2 * SMALL];
    } else {
      Arrays.fill(slots, 0);
    }
    count = 0;
    valueBytes = 0;
  }

  private boolean add(C column, int first, int from, int to, long rivalBytes) {
    boolean hasNulls = column.nulls.count() > 0;
    for (int row = from; row < to; row++) {
      if (hasNulls && column.nulls.get(row)) {
        ids[row - first] = 0;
        continue;
      }
      int before = count;
      ids[row - first] = idOf(column, row);
      if (count > before) {
        valueBytes += bytesOf(column, row);
        if (valueBytes > rivalBytes) {
          return false;
        }
      }
    }
    return true;
  }

  private int idOf(C column, int row) {
    int hash = hash(column, row);
    int mask = slots.length - 1;
    int slot = hash & mask;
    while (slots[slot] != 0) {
      int id = slots[slot] - 1;
      if (hashes[id] == hash && isSame(column, firstRows[id], row)) {
        return id;
      }
      slot = slot + 1 & mask;
    }
    if (count == firstRows.length) {
      firstRows = Arrays.copyOf(firstRows, 2 * count);
      hashes = Arrays.copyOf(hashes, 2 * count);
    }
    firstRows[count] = row;
    hashes[count++] = hash;
    slots[slot] = count;
    if (2 * count > slots.length) {
      grow();
    }
    return count - 1;
  }

  private void grow() {
    slots = new int[2 * slots.length];
    int mask = slots.length - 1;
    for (int id = 0; id < count; id++) {
      int slot = hashes[id] & mask;
      while (slots[slot] != 0) {
        slot = slot + 1 & mask;
      }
      slots[slot] = id + 1;
    }
  }

  /** Spreads the bits of a word over a hash. */
  static long mix(long word) {
    long mixed = word * 0x9E3779B97F4A7C15L;
    return mixed ^ mixed >>> 32;
  }
}
