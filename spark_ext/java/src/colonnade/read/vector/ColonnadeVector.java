package colonnade.read.vector;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;
import org.roaringbitmap.PeekableIntIterator;
import org.roaringbitmap.RoaringBitmap;

/**
 * The rows of one block as Spark reads them. The values stay in the encoding of the block.
 *
 * <p>This is one final class for speed. The JIT compiler does not inline a call with several
 * possible classes into the code that Spark generates, and such a call costs more than the read
 * itself. A vector is refilled for every block and reuses its arrays. The values that it returned
 * are valid until then.
 *
 * <p>A selection maps rows to positions in the block. It hides deleted rows without copying live
 * rows.
 */
public final class ColonnadeVector extends ColumnVector {
  private static final byte[] NO_BYTES = new byte[8];

  private final ColonnadeVector[] children;
  private final ColonnadeVector[] storedChildren;
  private final boolean sharesRows;

  public final Bytes validityBytes = new Bytes();
  public final Bytes valueBytes = new Bytes();
  public final Bytes offsetBytes = new Bytes();
  private ColonnadeVector dictionary;
  private ColonnadeVector narrower;

  private VectorForm form = VectorForm.UNIFORM;
  private boolean allNull = true;
  /** The validity of masked values, which is not part of the block. */
  private byte[] unmasked = new byte[0];
  private byte[] data = NO_BYTES;
  private long dataAt = Platform.BYTE_ARRAY_OFFSET;
  private byte[] offsets;
  private long offsetsAt;
  private byte[] validity;
  private long validityAt;
  // A stored value is ((8 bytes at its place & mask) ^ sign) + bias. This formula reads every
  // width, signed or unsigned, and constants too, without a branch.
  private long stride;
  private long mask;
  private long sign;
  private long bias;
  private boolean indexed;
  private long[] numbers = new long[2];
  private UTF8String[] texts = new UTF8String[1];
  private int[] selection;
  private int shift;
  private int rows;

  /**
   * Creates a vector whose rows are all NULL until it is filled.
   *
   * @param children the children in Spark's order
   * @param storedChildren the children in the order of the stored field; null for a child that
   *     Spark does not read
   * @param sharesRows whether row i of a child belongs to row i of this vector
   */
  public ColonnadeVector(
      DataType type,
      ColonnadeVector[] children,
      ColonnadeVector[] storedChildren,
      boolean sharesRows) {
    super(type);
    this.children = children;
    this.storedChildren = storedChildren;
    this.sharesRows = sharesRows;
  }

  public ColonnadeVector(DataType type) {
    this(type, new ColonnadeVector[0], new ColonnadeVector[0], false);
  }

  public ColonnadeVector storedChild(int index) {
    return storedChildren[index];
  }

  /** Returns the vector into which a dictionary is decoded before its values are copied here. */
  public ColonnadeVector dictionary() {
    if (dictionary == null) {
      dictionary = new ColonnadeVector(type);
    }
    return dictionary;
  }

  /** Returns the vector into which values of a narrower type are decoded before they are here. */
  public ColonnadeVector narrower() {
    if (narrower == null) {
      narrower = new ColonnadeVector(type);
    }
    return narrower;
  }

  public void setNull() {
    setUniform();
    allNull = true;
    for (ColonnadeVector child : children) {
      child.setNull();
    }
  }

  /**
   * Sets all rows to the same value: an integer, the bits of a float, or both words of a decimal.
   */
  public void setConstant(long low, long high) {
    setUniform();
    bias = low;
    numbers[0] = low;
    numbers[1] = high;
  }

  public void setConstant(UTF8String value) {
    setUniform();
    texts[0] = value;
  }

  private void setUniform() {
    form = VectorForm.UNIFORM;
    allNull = false;
    validity = null;
    data = NO_BYTES;
    dataAt = Platform.BYTE_ARRAY_OFFSET;
    setLayout(0, 0, 0, 0, false);
  }

  /** Sets the value of each row to its position plus {@code first}. */
  void setPositions(long first) {
    setUniform();
    form = VectorForm.POSITION;
    bias = first;
  }

  /** Sets the form to integers of {@code width} bytes that are relative to {@code base}. */
  public void setIntegers(int width, boolean signed, long base, boolean hasNulls) {
    setLoaded(VectorForm.FIXED, hasNulls);
    int bits = 8 * width;
    long top = signed && bits < 64 ? 1L << (bits - 1) : 0;
    setLayout(width, bits < 64 ? (1L << bits) - 1 : -1, top, base - top, false);
  }

  /** Sets the form to decimals of 16 bytes whose values fit in the lower 8 bytes. */
  public void setShortDecimals(boolean hasNulls) {
    setLoaded(VectorForm.FIXED, hasNulls);
    setLayout(16, -1, 0, 0, false);
  }

  /**
   * Sets the form to indexes of {@code width} bytes. They refer to the dictionary in {@code
   * numbers} or {@code texts}.
   */
  public void setIndexes(int width, boolean hasNulls) {
    setIntegers(width, true, 0, hasNulls);
    indexed = true;
  }

  private void setLayout(int width, long newMask, long newSign, long newBias, boolean isIndexed) {
    stride = width;
    mask = newMask;
    sign = newSign;
    bias = newBias;
    indexed = isIndexed;
  }

  /**
   * Sets the form of the loaded buffers. {@code hasNulls} states whether the validity is loaded
   * too.
   */
  public void setLoaded(VectorForm newForm, boolean hasNulls) {
    form = newForm;
    allNull = false;
    data = valueBytes.array;
    dataAt = valueBytes.at;
    offsets = offsetBytes.array;
    offsetsAt = offsetBytes.at;
    validity = hasNulls ? validityBytes.array : null;
    validityAt = validityBytes.at;
    indexed = false;
  }

  /** Returns an array for the numbers of a dictionary. A long decimal takes two of them. */
  public long[] numbers(int count) {
    if (numbers.length < count) {
      numbers = new long[count];
    }
    return numbers;
  }

  /** Returns an array for the texts of a dictionary. */
  public UTF8String[] texts(int count) {
    if (texts.length < count) {
      texts = new UTF8String[count];
    }
    return texts;
  }

  /**
   * Makes values NULL, although the block has them. Position i is row {@code first + i}, and only
   * the first {@code count} positions are read. Each call for uniform values undoes the last one.
   */
  public void mask(RoaringBitmap masked, long first, int count) {
    if (isUniform()) {
      validity = null;
    }
    if (allNull || !masked.intersects(first, first + count)) {
      return;
    }
    int size = (count + 7) / 8;
    unmasked = unmasked.length < size ? new byte[size] : unmasked;
    if (validity == null) {
      Arrays.fill(unmasked, 0, size, (byte) -1);
    } else {
      Platform.copyMemory(validity, validityAt, unmasked, Platform.BYTE_ARRAY_OFFSET, size);
    }
    PeekableIntIterator rows = masked.getIntIterator();
    rows.advanceIfNeeded((int) first);
    while (rows.hasNext()) {
      long at = Integer.toUnsignedLong(rows.next()) - first;
      if (at >= count) {
        break;
      }
      unmasked[(int) at >> 3] &= (byte) ~(1 << (at & 7));
    }
    validity = unmasked;
    validityAt = Platform.BYTE_ARRAY_OFFSET;
  }

  /** Whether every position holds the same value, so that no selection is needed. */
  public boolean isUniform() {
    return form == VectorForm.UNIFORM;
  }

  /**
   * Shows {@code count} rows of the rows from position {@code first} on: those with the numbers
   * {@code kept}, or the first ones if it is null.
   */
  public void select(int first, int[] kept, int count) {
    selection = kept;
    shift = first;
    rows = count;
    if (sharesRows) {
      for (ColonnadeVector child : children) {
        child.select(first, kept, count);
      }
    }
  }

  /** Returns the position in the block of a row. */
  public int position(int row) {
    return shift + (selection == null ? row : selection[row]);
  }

  /** Returns the stored number of a row, or its index into the dictionary. */
  private long stored(int row) {
    long word = Platform.getLong(data, dataAt + position(row) * stride);
    return ((word & mask) ^ sign) + bias;
  }

  private long number(int row) {
    long stored = stored(row);
    return indexed ? numbers[(int) stored] : stored;
  }

  @Override
  public boolean isNullAt(int row) {
    if (validity == null) {
      return allNull;
    }
    int i = position(row);
    return (Platform.getByte(validity, validityAt + (i >> 3)) >> (i & 7) & 1) == 0;
  }

  @Override
  public boolean hasNull() {
    return validity != null || allNull;
  }

  @Override
  public int numNulls() {
    int nulls = 0;
    for (int row = 0; hasNull() && row < rows; row++) {
      nulls += isNullAt(row) ? 1 : 0;
    }
    return nulls;
  }

  @Override
  public boolean getBoolean(int row) {
    if (form != VectorForm.BITS) {
      return number(row) != 0;
    }
    int i = position(row);
    return (Platform.getByte(data, dataAt + (i >> 3)) >> (i & 7) & 1) != 0;
  }

  @Override
  public byte getByte(int row) {
    return (byte) number(row);
  }

  @Override
  public short getShort(int row) {
    return (short) number(row);
  }

  @Override
  public int getInt(int row) {
    return (int) number(row);
  }

  @Override
  public long getLong(int row) {
    return form == VectorForm.POSITION ? bias + position(row) : number(row);
  }

  @Override
  public float getFloat(int row) {
    return Float.intBitsToFloat((int) number(row));
  }

  @Override
  public double getDouble(int row) {
    return Double.longBitsToDouble(number(row));
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    return precision <= Decimal.MAX_LONG_DIGITS()
        ? Decimal.createUnsafe(number(row), precision, scale)
        : Int128.decimal(wideWord(row, 0), wideWord(row, 1), precision, scale);
  }

  /** Returns the lower or the upper 8 bytes of a decimal of 16 bytes. */
  public long wideWord(int row, int word) {
    if (form == VectorForm.WIDE) {
      return Platform.getLong(data, dataAt + 16L * position(row) + 8L * word);
    }
    return numbers[(indexed ? 2 * (int) stored(row) : 0) + word];
  }

  /** Returns the unscaled value of a decimal of 16 bytes. */
  public BigInteger getUnscaled(int row) {
    return Int128.unscaled(wideWord(row, 0), wideWord(row, 1));
  }

  @Override
  public UTF8String getUTF8String(int row) {
    return text(form == VectorForm.TEXT ? extent(row) : stored(row));
  }

  /**
   * Returns the position of a row's text in the upper 32 bits, and its length in bytes in the lower
   * 32 bits.
   */
  private long extent(int row) {
    long place = offsetsAt + 4L * position(row);
    int start = Platform.getInt(offsets, place);
    return (long) start << 32 | (Platform.getInt(offsets, place + 4) - start);
  }

  /** Returns the text of a cell that {@link #putCells} wrote. */
  UTF8String text(long cell) {
    return form == VectorForm.TEXT
        ? UTF8String.fromAddress(data, dataAt + (cell >>> 32), (int) cell)
        : texts[(int) cell];
  }

  /**
   * Writes the values of {@code count} rows from {@code first} on into cells that are {@code step}
   * apart. A cell is a number, the bits of a float, or the argument of {@link #text}. The cell of a
   * NULL may hold anything. Nested values and decimals of 16 bytes have no cells.
   */
  public void putCells(int first, int count, long[] cells, int at, int step) {
    switch (form) {
      case FIXED, UNIFORM -> {
        if (selection == null && !indexed) {
          putNumbers(first, count, cells, at, step);
          return;
        }
        boolean direct = type instanceof StringType || type instanceof BinaryType;
        for (int i = 0, to = at; i < count; i++, to += step) {
          cells[to] = direct ? stored(first + i) : number(first + i);
        }
      }
      case BITS -> {
        for (int i = 0, to = at; i < count; i++, to += step) {
          cells[to] = getBoolean(first + i) ? 1 : 0;
        }
      }
      case POSITION -> {
        for (int i = 0, to = at; i < count; i++, to += step) {
          cells[to] = getLong(first + i);
        }
      }
      case TEXT -> {
        for (int i = 0, to = at; i < count; i++, to += step) {
          cells[to] = extent(first + i);
        }
      }
      case WIDE, NESTED -> {}
    }
  }

  private void putNumbers(int first, int count, long[] cells, int at, int step) {
    long place = dataAt + (shift + first) * stride;
    for (int i = 0, to = at; i < count; i++, to += step) {
      cells[to] = ((Platform.getLong(data, place) & mask) ^ sign) + bias;
      place += stride;
    }
  }

  @Override
  public byte[] getBinary(int row) {
    UTF8String bytes = getUTF8String(row);
    return bytes == null ? null : bytes.getBytes();
  }

  @Override
  public ColumnarArray getArray(int row) {
    if (isNullAt(row)) {
      return null;
    }
    int start = listStart(position(row));
    return new ColumnarArray(children[0], start, listStart(position(row) + 1) - start);
  }

  @Override
  public ColumnarMap getMap(int row) {
    if (isNullAt(row)) {
      return null;
    }
    int start = listStart(position(row));
    int length = listStart(position(row) + 1) - start;
    return new ColumnarMap(children[0], children[1], start, length);
  }

  /** Returns where the elements of a list begin; those of the list before it end there. */
  public int listStart(int position) {
    return Platform.getInt(offsets, offsetsAt + 4L * position);
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return children[ordinal];
  }

  /** Does nothing, because the vectors are reused after Spark closes a batch. */
  @Override
  public void close() {}
}
