package colonnade.read;

import colonnade.format.Statistics;
import colonnade.format.TableField;

/**
 * From a column as a RowSet stores it to the column as the table has it now.
 *
 * <p>A RowSet has the columns that the table had when the RowSet was written. If the table got a
 * column later, each row of the RowSet has the same value in it: NULL. This class is the only place
 * in Java that says so; its counterpart in Python is {@code tableformat/rowset/adapt.py}.
 *
 * <p>Spec: docs/spec/operations.md#altering-tables
 */
final class Adapt {
  private Adapt() {}

  /** Makes a vector show the value of a column that the RowSet does not have, in every row. */
  static void showAbsent(TableField column, ColonnadeVector vector) {
    vector.setNull();
  }

  /** Returns the statistics of {@code rows} rows of a column that the RowSet does not have. */
  static Statistics absentStatistics(TableField column, long rows) {
    return new Statistics(rows, 0, null, null, true);
  }
}
