package colonnade.read.vector;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.format.rowset.Statistics;
import colonnade.store.StoreException;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * From a column as a RowSet stores it to the column as the table has it now.
 *
 * <p>A RowSet has the columns that the table had when the RowSet was written. If the table got a
 * column later, each row of the RowSet has the same value in it: the initial value of the column,
 * or NULL. If the type of a column has widened since, its values become values of the wider type.
 * Fields inside a column follow these rules at any depth, but have no initial values. Fields that
 * were dropped since are left out. This class is the only place in Java that says so; its
 * counterpart in Python is {@code tableformat/rowset/adapt.py}.
 *
 * <p>Spec: docs/spec/types.md#defaults, docs/spec/types.md#widening,
 * docs/spec/types.md#fields-inside-a-column
 */
public final class Adapt {
  /** How the log writes an initial value that no bound can be. */
  private static final String NAN = "f:nan";

  /** The factor that makes a date a timestamp: the microseconds of a day. */
  private static final BigInteger DAY = BigInteger.valueOf(86_400_000_000L);

  private static final BigInteger LAST = BigInteger.valueOf(Long.MAX_VALUE);
  private static final BigInteger FIRST = BigInteger.valueOf(Long.MIN_VALUE);

  private Adapt() {}

  /** Makes a vector show the value of a column that the RowSet does not have, in every row. */
  public static void showAbsent(TableField column, ColonnadeVector vector) throws IOException {
    if (column.initial() == null) {
      vector.setNull();
      return;
    }
    try {
      if (column.initial().equals(NAN)) {
        OneValue.showReal(column, Double.NaN, vector);
      } else {
        OneValue.show(column, Bound.parse(column.initial(), column), vector);
      }
    } catch (Malformed error) {
      throw StoreException.corruption(
          "The initial value of column '" + column.name() + "' is damaged: " + error.getMessage()
              + ".",
          error);
    }
  }

  /**
   * Returns the place that each field of a stored struct has in the struct of the table. It is -1
   * for a field that the table does not have any more.
   */
  static int[] places(TableField stored, TableField wanted) {
    int[] places = new int[stored.children().size()];
    if (stored == wanted || stored.isVariant()) {
      Arrays.setAll(places, i -> i);
      return places;
    }
    Map<Integer, Integer> known = new HashMap<>();
    for (int at = 0; at < wanted.children().size(); at++) {
      known.put(wanted.children().get(at).id(), at);
    }
    Arrays.setAll(places, i -> known.getOrDefault(stored.children().get(i).id(), -1));
    return places;
  }

  /** Makes vectors show the fields of a struct that no stored field has the place of. */
  static void showAbsentFields(TableField struct, int[] places, ColonnadeVector target) {
    boolean[] there = new boolean[struct.children().size()];
    for (int place : places) {
      if (place >= 0) {
        there[place] = true;
      }
    }
    for (int at = 0; at < there.length; at++) {
      if (!there[at] && target.storedChild(at) != null) {
        target.storedChild(at).setNull();
      }
    }
  }

  /**
   * Returns the statistics of {@code rows} rows of a column that the RowSet does not have, or null
   * if they are unknown. They are unknown of a static column, whose values are in another table.
   */
  public static Statistics absentStatistics(TableField column, long rows) {
    if (column.isStatic()) {
      return null;
    }
    if (column.initial() == null) {
      return new Statistics(rows, 0, null, null, true);
    }
    if (column.initial().equals(NAN)) {
      return new Statistics(0, rows, null, null, true);
    }
    if (column.order() == TableField.Order.NONE) {
      return Statistics.unbounded(0, 0, false);
    }
    try {
      Bound value = Bound.parse(column.initial(), column);
      return new Statistics(0, 0, value, value, true);
    } catch (Malformed error) {
      return null; // showing the value is what reports it
    }
  }

  /**
   * Returns whether a vector of the wanted type can show blocks of the stored type unchanged. It
   * can for texts, and for numbers that it reads as integers of 64 bits.
   */
  public static boolean looksAlike(TableField stored, TableField wanted) {
    if (stored.type().equals(wanted.type())) {
      return true;
    }
    return keepsBounds(stored, wanted)
        && stored.kind() != Kind.FLOAT32
        && isWide(stored) == isWide(wanted);
  }

  /** Whether bounds and the hashes of Bloom filters are the same in the wanted type. */
  public static boolean keepsBounds(TableField stored, TableField wanted) {
    return !becomesDouble(stored, wanted) && factor(stored, wanted).equals(BigInteger.ONE);
  }

  /** Returns the statistics of the wanted column from those of the stored one. */
  public static Statistics statistics(Statistics found, TableField stored, TableField wanted) {
    if (keepsBounds(stored, wanted)) {
      return found;
    }
    return new Statistics(
        found.nulls(),
        found.nans(),
        bound(found.low(), stored, wanted),
        bound(found.high(), stored, wanted),
        found.exact());
  }

  private static Bound bound(Bound bound, TableField stored, TableField wanted) {
    if (bound == null) {
      return null;
    }
    BigInteger value = ((Bound.Whole) bound).value();
    if (becomesDouble(stored, wanted)) {
      return new Bound.Real(value.doubleValue());
    }
    BigInteger wider = value.multiply(factor(stored, wanted));
    // Only a deleted row has a date that no timestamp can hold.
    return new Bound.Whole(becomesTimestamp(stored, wanted) ? wider.max(FIRST).min(LAST) : wider);
  }

  /** Fills a vector of the wanted type with the rows of a block of the stored type. */
  public static void widen(
      TableField stored, TableField wanted, ColonnadeVector from, int rows, ColonnadeVector target)
      throws Malformed {
    target.select(0, null, 0);
    from.select(0, null, rows);
    if (from.isUniform() && from.hasNull()) {
      target.setNull();
      return;
    }
    int count = from.isUniform() ? 1 : rows;
    boolean wide = isWide(wanted);
    target.valueBytes.make((wide ? 16L : 8L) * count);
    if (wanted.kind() == Kind.FLOAT64) {
      putDoubles(stored, from, count, target.valueBytes);
    } else {
      putMultiplied(stored, wanted, from, count, target.valueBytes);
    }
    if (from.isUniform()) {
      target.setConstant(target.valueBytes.getLong(0), wide ? target.valueBytes.getLong(1) : 0);
      return;
    }
    if (from.hasNull()) {
      target.validityBytes.copy(from.validityBytes, (rows + 7) / 8);
    }
    if (wide) {
      target.setLoaded(VectorForm.WIDE, from.hasNull());
    } else {
      target.setIntegers(8, true, 0, from.hasNull());
    }
  }

  private static void putDoubles(TableField stored, ColonnadeVector from, int rows, Bytes to) {
    boolean isFloat = stored.kind() == Kind.FLOAT32;
    for (int i = 0; i < rows; i++) {
      double value = isFloat ? from.getFloat(i) : from.getLong(i);
      to.putLong(i, Double.doubleToRawLongBits(value));
    }
  }

  private static void putMultiplied(
      TableField stored, TableField wanted, ColonnadeVector from, int rows, Bytes to) {
    BigInteger factor = factor(stored, wanted);
    boolean wide = isWide(wanted);
    if (isWide(stored) || factor.bitLength() > 63) {
      for (int i = 0; i < rows; i++) {
        BigInteger value =
            isWide(stored) ? from.getUnscaled(i) : BigInteger.valueOf(from.getLong(i));
        value = value.multiply(factor);
        to.putLong(2L * i, value.longValue());
        to.putLong(2L * i + 1, value.shiftRight(64).longValue());
      }
      return;
    }
    long times = factor.longValueExact();
    for (int i = 0; i < rows; i++) {
      long value = from.getLong(i);
      to.putLong(wide ? 2L * i : i, value * times);
      if (wide) {
        to.putLong(2L * i + 1, Math.multiplyHigh(value, times));
      }
    }
  }

  private static boolean becomesDouble(TableField stored, TableField wanted) {
    return wanted.kind() == Kind.FLOAT64 && stored.kind().isInteger();
  }

  private static boolean becomesTimestamp(TableField stored, TableField wanted) {
    return stored.type().equals("date") && !wanted.type().equals("date");
  }

  /** Returns what the integer of a stored value is multiplied by. */
  private static BigInteger factor(TableField stored, TableField wanted) {
    if (becomesTimestamp(stored, wanted)) {
      return DAY;
    }
    return wanted.kind() == Kind.DECIMAL
        ? BigInteger.TEN.pow(wanted.scale() - scale(stored))
        : BigInteger.ONE;
  }

  private static int scale(TableField field) {
    return field.kind() == Kind.DECIMAL ? field.scale() : 0;
  }

  /** Whether a column has decimals of 16 bytes. */
  public static boolean isWide(TableField field) {
    return field.kind() == Kind.DECIMAL && !field.isShortDecimal();
  }
}
