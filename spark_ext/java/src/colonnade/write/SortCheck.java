package colonnade.write;

import colonnade.write.job.WriteJob;
import colonnade.write.staged.Staged;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Verifies that rows arrive in the order of the table's sort key, which Spark was asked for.
 *
 * <p>Spark's order equals that of the specification. NULL is first in ascending and last in
 * descending order, as requested. NaN is greatest, and -0.0 equals 0.0. Strings and binary are
 * ordered by unsigned byte. A sort key contains neither collated strings nor nested types. The rows
 * of every RowSet are therefore sorted in the order of their arrival.
 */
final class SortCheck {
  private final List<Key> keys = new ArrayList<>();
  private List<Comparable<?>> last;

  /** One column of the sort key. */
  private record Key(Staged column, Comparator<Comparable<?>> order) {}

  SortCheck(WriteJob job, List<Staged> columns) {
    for (WriteJob.SortField field : job.sortKey()) {
      for (Staged column : columns) {
        if (column.field.id() == field.column()) {
          Comparator<Comparable<?>> order = Comparator.nullsFirst(SortCheck::compare);
          keys.add(new Key(column, field.descending() ? order.reversed() : order));
        }
      }
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static int compare(Comparable left, Comparable right) {
    return left.compareTo(right);
  }

  /**
   * Checks the order of the rows staged since the last cut, including the first of them against the
   * last row before the cut.
   *
   * @throws IllegalStateException if a row belongs before its predecessor
   */
  void check(int rows) {
    for (int row = 0; row < rows && !keys.isEmpty(); row++) {
      List<Comparable<?>> next = new ArrayList<>(keys.size());
      for (Key key : keys) {
        next.add(key.column.sortValue(row));
      }
      if (last != null && compare(last, next) > 0) {
        throw new IllegalStateException(
            "The rows of a task do not arrive in the order of the table's sort key.");
      }
      last = next;
    }
  }

  private int compare(List<Comparable<?>> left, List<Comparable<?>> right) {
    for (int i = 0; i < keys.size(); i++) {
      int order = keys.get(i).order.compare(left.get(i), right.get(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }
}
