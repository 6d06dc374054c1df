package colonnade.rowset;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
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
  // How a position becomes a value. The dictionary is that of the index, or of one constant.
  static final int NULL = 0;
  static final int CONSTANT = 1;
  static final int INDEX8 = 2;
  static final int INDEX16 = 3;
  static final int INDEX32 = 4;
  static final int BITS = 5;
  static final int INT8 = 6;
  static final int INT16 = 7;
  static final int INT32 = 8;
  static final int INT64 = 9;
  static final int INT128 = 10;
  static final int UINT8 = 11;
  static final int UINT16 = 12;
  static final int UINT32 = 13;
  static final int POSITION = 14;
  static final int VARIABLE = 15;
  static final int NESTED = 16;

  private static final long COMPACT_LIMIT = 1_000_000_000_000_000_000L;

  private final ColonnadeVector[] children;
  private final ColonnadeVector[] storedChildren;
  private final boolean sharesRows;

  final Bytes validityBytes = new Bytes();
  final Bytes valueBytes = new Bytes();
  final Bytes offsetBytes = new Bytes();
  private ColonnadeVector dictionary;

  private int form = NULL;
  private byte[] data;
  private long dataAt;
  private byte[] offsets;
  private long offsetsAt;
  private byte[] validity;
  private long validityAt;
  private long base;
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
    form = NULL;
    validity = null;
    for (ColonnadeVector child : children) {
      child.setNull();
    }
  }

  /** The same value in every row: an integer, the bits of a float, or both words of a decimal. */
  void setConstant(long low, long high) {
    form = CONSTANT;
    validity = null;
    numbers[0] = low;
    numbers[1] = high;
  }

  void setConstant(UTF8String value) {
    form = CONSTANT;
    validity = null;
    texts[0] = value;
  }

  /** The value of a row is its position plus {@code first}. */
  void setPositions(long first) {
    form = POSITION;
    validity = null;
    base = first;
  }

  /** Reads the loaded buffers in the given form; {@code hasNulls} says whether validity is one. */
  void setLoaded(int newForm, long newBase, boolean hasNulls) {
    form = newForm;
    base = newBase;
    data = valueBytes.array;
    dataAt = valueBytes.at;
    offsets = offsetBytes.array;
    offsetsAt = offsetBytes.at;
    validity = hasNulls ? validityBytes.array : null;
    validityAt = validityBytes.at;
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

  /** Whether decimals fit a long, and take one number of the dictionary. */
  boolean hasShortDecimals() {
    return type instanceof DecimalType decimal && decimal.precision() <= Decimal.MAX_LONG_DIGITS();
  }

  /** Whether every position holds the same, so that no selection is needed. */
  boolean isUniform() {
    return form == NULL || form == CONSTANT;
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

  private int index(int position) {
    return switch (form) {
      case INDEX8 -> Platform.getByte(data, dataAt + position);
      case INDEX16 -> Platform.getShort(data, dataAt + 2L * position);
      case INDEX32 -> Platform.getInt(data, dataAt + 4L * position);
      default -> 0;
    };
  }

  private long number(int row) {
    int i = position(row);
    return switch (form) {
      case INT64 -> base + Platform.getLong(data, dataAt + 8L * i);
      case INT32 -> base + Platform.getInt(data, dataAt + 4L * i);
      case UINT8 -> base + (Platform.getByte(data, dataAt + i) & 0xFF);
      case UINT16 -> base + (Platform.getShort(data, dataAt + 2L * i) & 0xFFFF);
      case UINT32 -> base + (Platform.getInt(data, dataAt + 4L * i) & 0xFFFF_FFFFL);
      case INT16 -> base + Platform.getShort(data, dataAt + 2L * i);
      case INT8 -> base + Platform.getByte(data, dataAt + i);
      case INT128 -> Platform.getLong(data, dataAt + 16L * i);
      case POSITION -> base + i;
      case BITS -> Platform.getByte(data, dataAt + (i >> 3)) >> (i & 7) & 1;
      default -> numbers[index(i)];
    };
  }

  @Override
  public boolean isNullAt(int row) {
    if (validity == null) {
      return form == NULL;
    }
    int i = position(row);
    return (Platform.getByte(validity, validityAt + (i >> 3)) >> (i & 7) & 1) == 0;
  }

  @Override
  public boolean hasNull() {
    return validity != null || form == NULL;
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
    return number(row) != 0;
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
    return number(row);
  }

  @Override
  public float getFloat(int row) {
    int i = position(row);
    return form == INT32
        ? Platform.getFloat(data, dataAt + 4L * i)
        : Float.intBitsToFloat((int) numbers[index(i)]);
  }

  @Override
  public double getDouble(int row) {
    int i = position(row);
    return form == INT64
        ? Platform.getDouble(data, dataAt + 8L * i)
        : Double.longBitsToDouble(numbers[index(i)]);
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    if (precision <= Decimal.MAX_LONG_DIGITS()) {
      return Decimal.createUnsafe(number(row), precision, scale);
    }
    int i = position(row);
    long low;
    long high;
    if (form == INT128) {
      low = Platform.getLong(data, dataAt + 16L * i);
      high = Platform.getLong(data, dataAt + 16L * i + 8);
    } else {
      int entry = 2 * index(i);
      low = numbers[entry];
      high = numbers[entry + 1];
    }
    if (high == low >> 63 && low > -COMPACT_LIMIT && low < COMPACT_LIMIT) {
      return Decimal.createUnsafe(low, precision, scale);
    }
    BigInteger unscaled = unscaled(low, high);
    return Decimal.apply(new BigDecimal(unscaled, scale), precision, scale);
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
    int i = position(row);
    if (form != VARIABLE) {
      return texts[index(i)];
    }
    int start = Platform.getInt(offsets, offsetsAt + 4L * i);
    int end = Platform.getInt(offsets, offsetsAt + 4L * i + 4);
    return UTF8String.fromAddress(data, dataAt + start, end - start);
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
    int i = position(row);
    int start = Platform.getInt(offsets, offsetsAt + 4L * i);
    int end = Platform.getInt(offsets, offsetsAt + 4L * i + 4);
    return new ColumnarArray(children[0], start, end - start);
  }

  @Override
  public ColumnarMap getMap(int row) {
    if (isNullAt(row)) {
      return null;
    }
    int i = position(row);
    int start = Platform.getInt(offsets, offsetsAt + 4L * i);
    int end = Platform.getInt(offsets, offsetsAt + 4L * i + 4);
    return new ColumnarMap(children[0], children[1], start, end - start);
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return children[ordinal];
  }

  /** Nothing to give back: Spark closes vectors between batches that are used again. */
  @Override
  public void close() {}
}
