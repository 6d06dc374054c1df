package colonnade.read;

import colonnade.format.TableField;
import colonnade.read.vector.Adapt;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.VectorForm;
import java.io.IOException;
import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Values of one column that a process keeps, in the order in which they were added. The vectors of
 * several tasks may show them at the same time, and none copies them.
 */
final class KeptColumn {
  private static final int MOST_BYTES = Integer.MAX_VALUE - 2 * Bytes.READ_BEYOND;

  private final TableField field;
  /** Whether the values are decimals of 16 bytes. */
  private final boolean wide;
  private final KeptColumn[] children;
  private byte[] validity = new byte[Bytes.READ_BEYOND];
  private byte[] values = new byte[Bytes.READ_BEYOND];
  private byte[] offsets = new byte[Bytes.READ_BEYOND];
  private int end;
  private int rows;

  private KeptColumn(TableField field, KeptColumn[] children) {
    this.field = field;
    this.wide = Adapt.isWide(field);
    this.children = children;
  }

  /** Creates a column without values. It keeps the nested fields that a vector has. */
  static KeptColumn of(TableField field, ColonnadeVector shape) {
    KeptColumn[] children = new KeptColumn[field.children().size()];
    for (int i = 0; i < children.length; i++) {
      ColonnadeVector child = shape.storedChild(i);
      children[i] = child == null ? null : of(field.children().get(i), child);
    }
    return new KeptColumn(field, children);
  }

  int rows() {
    return rows;
  }

  /** Returns how many bytes the values take in memory. */
  long byteCount() {
    long total = (long) validity.length + values.length + offsets.length;
    for (KeptColumn child : children) {
      total += child == null ? 0 : child.byteCount();
    }
    return total;
  }

  void addNull() throws IOException {
    add(null, 0);
  }

  /**
   * Adds the value of a row of a vector, or NULL if the vector is null.
   *
   * @throws IOException if a JVM cannot hold the values of the column in one array
   */
  void add(ColonnadeVector from, int row) throws IOException {
    boolean present = from != null && !from.isNullAt(row);
    validity = grown(validity, rows / 8 + 1L);
    if (present) {
      validity[rows >> 3] |= (byte) (1 << (rows & 7));
    }
    switch (field.kind()) {
      case UTF8, BINARY -> addText(present ? from.getUTF8String(row) : null);
      case LIST, MAP -> addElements(present ? from : null, row);
      case STRUCT -> {
        for (int i = 0; i < children.length; i++) {
          if (children[i] != null) {
            children[i].add(present ? from.storedChild(i) : null, row);
          }
        }
      }
      case VOID -> {}
      default -> addNumber(present ? from : null, row);
    }
    rows++;
  }

  private void addNumber(ColonnadeVector from, int row) throws IOException {
    int words = wide ? 2 : 1;
    values = grown(values, 8L * words * (rows + 1L));
    if (from == null) {
      return;
    }
    long place = Platform.BYTE_ARRAY_OFFSET + 8L * words * rows;
    if (words == 2) {
      Platform.putLong(values, place, from.wideWord(row, 0));
      Platform.putLong(values, place + 8, from.wideWord(row, 1));
    } else {
      long[] cell = new long[1];
      from.putCells(row, 1, cell, 0, 1);
      Platform.putLong(values, place, cell[0]);
    }
  }

  private void addText(UTF8String text) throws IOException {
    int length = text == null ? 0 : text.numBytes();
    values = grown(values, (long) end + length);
    if (text != null) {
      text.writeToMemory(values, Platform.BYTE_ARRAY_OFFSET + (long) end);
    }
    addOffset(end + length);
  }

  private void addElements(ColonnadeVector from, int row) throws IOException {
    int first = from == null ? 0 : from.listStart(from.position(row));
    int last = from == null ? 0 : from.listStart(from.position(row) + 1);
    for (int i = 0; i < children.length; i++) {
      for (int element = first; element < last; element++) {
        children[i].add(from.storedChild(i), element);
      }
    }
    addOffset(end + last - first);
  }

  private void addOffset(int newEnd) throws IOException {
    offsets = grown(offsets, 4L * (rows + 2L));
    Platform.putInt(offsets, Platform.BYTE_ARRAY_OFFSET + 4L * rows + 4, newEnd);
    end = newEnd;
  }

  private byte[] grown(byte[] array, long size) throws IOException {
    if (size + Bytes.READ_BEYOND <= array.length) {
      return array;
    }
    if (size > MOST_BYTES) {
      throw new IOException(
          "The static values of column '" + field.name() + "' are more than a JVM can hold in one"
              + " array, which is 2 GiB; keep them in a table of their own, and join it.");
    }
    long roomy = Math.min(MOST_BYTES, size + size / 2);
    return Arrays.copyOf(array, (int) roomy + Bytes.READ_BEYOND);
  }

  /** Makes a vector of the same shape show all values, until its next values are set. */
  void show(ColonnadeVector target) {
    target.validityBytes.share(validity);
    target.valueBytes.share(values);
    target.offsetBytes.share(offsets);
    for (int i = 0; i < children.length; i++) {
      if (children[i] != null) {
        children[i].show(target.storedChild(i));
      }
    }
    switch (field.kind()) {
      case UTF8, BINARY -> target.setLoaded(VectorForm.TEXT, true);
      case LIST, MAP, STRUCT -> target.setLoaded(VectorForm.NESTED, true);
      case VOID -> target.setNull();
      default -> {
        if (wide) {
          target.setLoaded(VectorForm.WIDE, true);
        } else {
          target.setIntegers(8, true, 0, true);
        }
      }
    }
  }
}
