package colonnade.read.vector;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGettersReader;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.sql.vectorized.ColumnarRow;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.unsafe.types.VariantVal;

/**
 * Iterates over the rows of a batch. The values of a row are valid until the next row.
 *
 * <p>In a batch, the values of one row are far apart in memory, so that reading a row directly
 * costs one cache miss for each column. So this class first copies a tile of rows that fits in the
 * cache, column by column. Each value becomes a cell of 8 bytes, and the cells of a row are
 * neighbours. Nested values and decimals of 16 bytes do not fit in cells and are read from their
 * vectors.
 *
 * <p>The base class is a class of Spark that has every getter, because the set of getters differs
 * between versions of Spark.
 */
public final class BatchRow extends GenericInternalRow {
  private static final long serialVersionUID = 1L;
  private static final int TILE_CELLS = 1 << 15;

  private transient ColonnadeVector[] columns = {};
  private boolean[] hasNulls = {};
  private long[] cells = {};
  private int rows;
  /**
   * The first row of the tile and the row after its last, the current row, and the position of the
   * current row's cells.
   */
  private int tile;
  private int tileEnd;
  private int row;
  private int at;

  public BatchRow() {
    super(0);
  }

  /**
   * Begins a batch. The position is then before its first row. Requires: every column is a {@link
   * ColonnadeVector}.
   */
  public void enter(ColumnarBatch batch) {
    int width = batch.numCols();
    if (columns.length != width) {
      columns = new ColonnadeVector[width];
      hasNulls = new boolean[width];
      cells = new long[Math.max(TILE_CELLS, width)];
    }
    for (int i = 0; i < width; i++) {
      columns[i] = (ColonnadeVector) batch.column(i);
      hasNulls[i] = columns[i].hasNull();
    }
    rows = batch.numRows();
    tileEnd = 0;
    row = -1;
  }

  /** Moves to the next row. Returns false after the last row. */
  public boolean advance() {
    row++;
    if (row >= tileEnd) {
      if (row >= rows) {
        return false;
      }
      fill();
    }
    at = (row - tile) * columns.length;
    return true;
  }

  private void fill() {
    int width = columns.length;
    tile = row;
    tileEnd = width == 0 ? rows : Math.min(rows, tile + cells.length / width);
    for (int i = 0; i < width; i++) {
      columns[i].putCells(tile, tileEnd - tile, cells, i, width);
    }
  }

  @Override
  public int numFields() {
    return columns.length;
  }

  @Override
  public boolean isNullAt(int ordinal) {
    return hasNulls[ordinal] && columns[ordinal].isNullAt(row);
  }

  @Override
  public boolean getBoolean(int ordinal) {
    return cells[at + ordinal] != 0;
  }

  @Override
  public byte getByte(int ordinal) {
    return (byte) cells[at + ordinal];
  }

  @Override
  public short getShort(int ordinal) {
    return (short) cells[at + ordinal];
  }

  @Override
  public int getInt(int ordinal) {
    return (int) cells[at + ordinal];
  }

  @Override
  public long getLong(int ordinal) {
    return cells[at + ordinal];
  }

  @Override
  public float getFloat(int ordinal) {
    return Float.intBitsToFloat((int) cells[at + ordinal]);
  }

  @Override
  public double getDouble(int ordinal) {
    return Double.longBitsToDouble(cells[at + ordinal]);
  }

  @Override
  public Decimal getDecimal(int ordinal, int precision, int scale) {
    if (isNullAt(ordinal)) {
      return null;
    }
    return precision <= Decimal.MAX_LONG_DIGITS()
        ? Decimal.createUnsafe(cells[at + ordinal], precision, scale)
        : columns[ordinal].getDecimal(row, precision, scale);
  }

  @Override
  public UTF8String getUTF8String(int ordinal) {
    return isNullAt(ordinal) ? null : columns[ordinal].text(cells[at + ordinal]);
  }

  @Override
  public byte[] getBinary(int ordinal) {
    return isNullAt(ordinal) ? null : columns[ordinal].text(cells[at + ordinal]).getBytes();
  }

  @Override
  public ColumnarArray getArray(int ordinal) {
    return columns[ordinal].getArray(row);
  }

  @Override
  public ColumnarMap getMap(int ordinal) {
    return columns[ordinal].getMap(row);
  }

  @Override
  public ColumnarRow getStruct(int ordinal, int fields) {
    return columns[ordinal].getStruct(row);
  }

  @Override
  public VariantVal getVariant(int ordinal) {
    return columns[ordinal].getVariant(row);
  }

  @Override
  public CalendarInterval getInterval(int ordinal) {
    return columns[ordinal].getInterval(row);
  }

  @Override
  public Object get(int ordinal, DataType type) {
    return SpecializedGettersReader.read(this, ordinal, type, true, true);
  }

  @Override
  public Object genericGet(int ordinal) {
    return get(ordinal, columns[ordinal].dataType());
  }

  @Override
  public GenericInternalRow copy() {
    Object[] values = new Object[columns.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = InternalRow.copyValue(genericGet(i));
    }
    return new GenericInternalRow(values);
  }

  @Override
  public void setNullAt(int ordinal) {
    throw new UnsupportedOperationException("Rows of a scan cannot be changed.");
  }

  @Override
  public void update(int ordinal, Object value) {
    setNullAt(ordinal);
  }
}
