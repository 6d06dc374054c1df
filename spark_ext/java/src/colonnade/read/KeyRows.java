package colonnade.read;

import colonnade.format.TableField;
import colonnade.read.vector.Adapt;
import colonnade.read.vector.ColonnadeVector;
import java.util.List;

/**
 * The rows of some keys, found by hash. No two rows have the same key. A key that is NULL in a
 * column has no row. As in a primary key, 0.0 and -0.0 are the same.
 */
final class KeyRows {
  /** The row number of a key that has no row. */
  static final int NONE = -1;

  private final TableField.Kind[] kinds;
  /** Whether a column has decimals of 16 bytes. */
  private final boolean[] wide;
  private final ColonnadeVector[] keys;
  /** By slot, the number of the row plus one, or 0 without one. */
  private final int[] slots;

  /**
   * Creates the index of some keys.
   *
   * @param keys the values of all rows, one vector for each field
   */
  KeyRows(List<TableField> fields, ColonnadeVector[] keys, int rows) {
    this.keys = keys;
    kinds = fields.stream().map(TableField::kind).toArray(TableField.Kind[]::new);
    wide = new boolean[kinds.length];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = Adapt.isWide(fields.get(i));
    }
    slots = new int[Math.max(2, Integer.highestOneBit(Math.min(rows, 1 << 28)) << 2)];
    for (int row = 0; row < rows; row++) {
      int slot = slot(keys, row);
      while (slots[slot] != 0) {
        slot = slot + 1 & slots.length - 1;
      }
      slots[slot] = row + 1;
    }
  }

  long byteCount() {
    return 4L * slots.length;
  }

  /**
   * Writes the rows of the keys that vectors show in their first {@code count} rows. A key without
   * a row gets {@code missing}.
   */
  void find(ColonnadeVector[] shown, int count, int missing, int[] found) {
    int last = NONE;
    for (int at = 0; at < count; at++) {
      // Neighbouring rows often have the same key.
      if (last == NONE || !isSame(last, shown, at)) {
        last = find(shown, at);
      }
      found[at] = last == NONE ? missing : last;
    }
  }

  private int find(ColonnadeVector[] shown, int at) {
    for (ColonnadeVector each : shown) {
      if (each.isNullAt(at)) {
        return NONE;
      }
    }
    int slot = slot(shown, at);
    while (slots[slot] != 0) {
      if (isSame(slots[slot] - 1, shown, at)) {
        return slots[slot] - 1;
      }
      slot = slot + 1 & slots.length - 1;
    }
    return NONE;
  }

  private int slot(ColonnadeVector[] shown, int at) {
    long hash = 0;
    for (int i = 0; i < shown.length; i++) {
      hash = (hash ^ number(i, shown[i], at)) * 0x9E37_79B9_7F4A_7C15L;
      hash ^= hash >>> 32;
    }
    return (int) hash & slots.length - 1;
  }

  private boolean isSame(int row, ColonnadeVector[] shown, int at) {
    for (int i = 0; i < shown.length; i++) {
      if (shown[i].isNullAt(at) || !isSame(i, row, shown[i], at)) {
        return false;
      }
    }
    return true;
  }

  private boolean isSame(int column, int row, ColonnadeVector shown, int at) {
    ColonnadeVector key = keys[column];
    if (kinds[column] == TableField.Kind.UTF8 || kinds[column] == TableField.Kind.BINARY) {
      return key.getUTF8String(row).equals(shown.getUTF8String(at));
    }
    if (wide[column]) {
      return key.wideWord(row, 0) == shown.wideWord(at, 0)
          && key.wideWord(row, 1) == shown.wideWord(at, 1);
    }
    return number(column, key, row) == number(column, shown, at);
  }

  /** Returns a number that equal values have in common, and other values hardly. */
  private long number(int column, ColonnadeVector shown, int at) {
    return switch (kinds[column]) {
      case UTF8, BINARY -> shown.getUTF8String(at).hashCode();
      case BOOLEAN -> shown.getBoolean(at) ? 1 : 0;
      // The sum of -0.0 and 0.0 is 0.0.
      case FLOAT32 -> Double.doubleToLongBits(shown.getFloat(at) + 0.0);
      case FLOAT64 -> Double.doubleToLongBits(shown.getDouble(at) + 0.0);
      default ->
          wide[column]
              ? shown.wideWord(at, 0) + 31 * shown.wideWord(at, 1)
              : shown.getLong(at);
    };
  }
}
