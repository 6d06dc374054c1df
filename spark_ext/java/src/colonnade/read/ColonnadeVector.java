package colonnade.read;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The rows of one block as Spark reads them, in the encoding that they are stored in.
 *
 * <p>One final class on purpose: a call that could reach several classes is no longer inlined into
 * the code that Spark generates, and costs more than what it fetches. A vector is filled again for
 * every block and keeps its arrays; what it gave out is valid until then.
 *
 * <p>A selection maps rows to positions in the block: rows that a deletion vector names are left
 * out without being copied.
 */
public final class ColonnadeVector extends ColumnVector {
  /** What a vector holds, beside its NULLs. */
  enum Form {
    /** Nothing but NULL, or the same value in every row. */
    UNIFORM,
    /** Integers, the bits of floats, or indexes of a dictionary. */
    FIXED,
    BITS,
    /** Decimals of 16 bytes. */
    WIDE,
    /** The position itself, from the base on. */
    POSITION,
    TEXT,
    NESTED
  }

  private static final long COMPACT_LIMIT = 1_000_000_000_000_000_000L;
  private static final byte[] NO_BYTES = new byte[8];

  private final ColonnadeVector[] children;
  private final ColonnadeVector[] storedChildren;
  private final boolean sharesRows;

  final Bytes validityBytes = new Bytes();
  final Bytes valueBytes = new Bytes();
  final Bytes offsetBytes = new Bytes();
  private ColonnadeVector dictionary;

  private Form form = Form.UNIFORM;
  private boolean allNull = true;
  private byte[] data = NO_BYTES;
  private long dataAt = Platform.BYTE_ARRAY_OFFSET;
  private byte[] offsets;
  private long offsetsAt;
  private byte[] validity;
  private long validityAt;
  // What a position holds is ((8 bytes at its place & mask) ^ sign) + bias: one way to read every
  // width, signed or not, and a constant too, without a branch.
  private long stride;
  private long mask;
  private long sign;
  private long bias;
  private boolean indexed;
  private long[] numbers = new long[2];
  private UTF8String[] texts = new UTF8String[1];
  private int[] selection;
  private int rows;

  /**
   * A vector that is NULL until it is filled.
   *
   * @param children as Spark counts them
   * @param storedChildren as blocks hold them; null for those that nobody asked for
   * @param sharesRows whether row i of a child belongs to row i of this one
   */
  ColonnadeVector(
      DataType type,
      ColonnadeVector[] children,
      ColonnadeVector[] storedChildren,
      boolean sharesRows) {
    super(type);
    this.children = children;
    this.storedChildren = storedChildren;
    this.sharesRows = sharesRows;
  }

  ColonnadeVector(DataType type) {
    this(type, new ColonnadeVector[0], new ColonnadeVector[0], false);
  }

  ColonnadeVector storedChild(int index) {
    return storedChildren[index];
  }

  /** Where a dictionary is decoded to before it becomes this vector's. */
  ColonnadeVector dictionary() {
    if (dictionary == null) {
      dictionary = new ColonnadeVector(type);
    }
    return dictionary;
  }

  void setNull() {
    setUniform();
    allNull = true;
    for (ColonnadeVector child : children) {
      child.setNull();
    }
  }

  /** The same value in every row: an integer, the bits of a float, or both words of a decimal. */
  void setConstant(long low, long high) {
    setUniform();
    bias = low;
    numbers[0] = low;
    numbers[1] = high;
  }

  void setConstant(UTF8String value) {
    setUniform();
    texts[0] = value;
  }

  private void setUniform() {
    form = Form.UNIFORM;
    allNull = false;
    validity = null;
    data = NO_BYTES;
    dataAt = Platform.BYTE_ARRAY_OFFSET;
    setLayout(0, 0, 0, 0, false);
  }

  /** The value of a row is its position plus {@code first}. */
  void setPositions(long first) {
    setUniform();
    form = Form.POSITION;
    bias = first;
  }

  /** Integers of {@code width} bytes, as their distance from {@code base}. */
  void setIntegers(int width, boolean signed, long base, boolean hasNulls) {
    setLoaded(Form.FIXED, hasNulls);
    int bits = 8 * width;
    long top = signed && bits < 64 ? 1L << (bits - 1) : 0;
    setLayout(width, bits < 64 ? (1L << bits) - 1 : -1, top, base - top, false);
  }

  /** Decimals of 16 bytes whose value fits the lower half. */
  void setShortDecimals(boolean hasNulls) {
    setLoaded(Form.FIXED, hasNulls);
    setLayout(16, -1, 0, 0, false);
  }

  /**
   * Indexes of {@code width} bytes into the dictionary, which {@code numbers} or {@code texts}
   * hold.
   */
  void setIndexes(int width, boolean hasNulls) {
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

  /** Reads the loaded buffers in the given form; {@code hasNulls} says whether validity is one. */
  void setLoaded(Form newForm, boolean hasNulls) {
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

  /** Room for the numbers of a dictionary; those of long decimals take two. */
  long[] numbers(int count) {
    if (numbers.length < count) {
      numbers = new long[count];
    }
    return numbers;
  }

  /** Room for the texts of a dictionary. */
  UTF8String[] texts(int count) {
    if (texts.length < count) {
      texts = new UTF8String[count];
    }
    return texts;
  }

  /** Whether every position holds the same, so that no selection is needed. */
  boolean isUniform() {
    return form == Form.UNIFORM;
  }

  /** Shows {@code count} rows: those at the given positions, or (null) the first ones. */
  void select(int[] positions, int count) {
    selection = positions;
    rows = count;
    if (sharesRows) {
      for (ColonnadeVector child : children) {
        child.select(positions, count);
      }
    }
  }

  private int position(int row) {
    return selection == null ? row : selection[row];
  }

  /** The stored number of a row, or its index into the dictionary. */
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
    if (form != Form.BITS) {
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
    return form == Form.POSITION ? bias + position(row) : number(row);
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
        : wideDecimal(row, precision, scale);
  }

  private Decimal wideDecimal(int row, int precision, int scale) {
    long low;
    long high;
    if (form == Form.WIDE) {
      long place = dataAt + 16L * position(row);
      low = Platform.getLong(data, place);
      high = Platform.getLong(data, place + 8);
    } else {
      int entry = indexed ? 2 * (int) stored(row) : 0;
      low = numbers[entry];
      high = numbers[entry + 1];
    }
    if (high == low >> 63 && low > -COMPACT_LIMIT && low < COMPACT_LIMIT) {
      return Decimal.createUnsafe(low, precision, scale);
    }
    return Decimal.apply(new BigDecimal(unscaled(low, high), scale), precision, scale);
  }

  static BigInteger unscaled(long low, long high) {
    byte[] bytes = new byte[16];
    for (int i = 0; i < 8; i++) {
      bytes[7 - i] = (byte) (high >> 8 * i);
      bytes[15 - i] = (byte) (low >> 8 * i);
    }
    return new BigInteger(bytes);
  }

  @Override
  public UTF8String getUTF8String(int row) {
    return text(form == Form.TEXT ? extent(row) : stored(row));
  }

  /** Where the text of a row begins, in the upper half, and its bytes, in the lower. */
  private long extent(int row) {
    long place = offsetsAt + 4L * position(row);
    int start = Platform.getInt(offsets, place);
    return (long) start << 32 | (Platform.getInt(offsets, place + 4) - start);
  }

  /** The text of a cell. */
  UTF8String text(long cell) {
    return form == Form.TEXT
        ? UTF8String.fromAddress(data, dataAt + (cell >>> 32), (int) cell)
        : texts[(int) cell];
  }

  /**
   * Puts what rows from {@code first} on hold into cells that are {@code step} apart: a number, the
   * bits of a float, or what {@link #text} takes. The cells of NULL may hold anything; those of
   * nested values and of decimals of 16 bytes are left alone.
   */
  void putCells(int first, int count, long[] cells, int at, int step) {
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
    long place = dataAt + first * stride;
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

  private int listStart(int position) {
    return Platform.getInt(offsets, offsetsAt + 4L * position);
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return children[ordinal];
  }

  /** Nothing to give back: Spark closes vectors between batches that are used again. */
  @Override
  public void close() {}
}
