package colonnade.write;

import colonnade.write.job.IdentityColumn;
import colonnade.write.job.IdentityDraws;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import java.util.ArrayList;
import java.util.List;

/**
 * The values of one identity column for one task. The first draw is as large as the rows that wait,
 * and later ones grow with what the task has used. Values that users give in the same task are
 * skipped. Python's twin is in {@code tableformat/write/identity.py}.
 */
final class IdentitySupply {
  private final IdentityColumn column;
  private final IdentitySource source;
  private final IdentityDraws draws;

  /** The values that rows have got, as ranges from a first to a last value. */
  private final List<long[]> used = new ArrayList<>();

  private long next;
  private long left;
  private long taken;

  /** The farthest value that a user gave, or null. */
  private Long farthest;

  IdentitySupply(IdentityColumn column, IdentitySource source, IdentityDraws draws) {
    this.column = column;
    this.source = source;
    this.draws = draws;
  }

  /**
   * Returns the next value. {@code needed} is how many values the waiting rows need, or 0 if later
   * rows are not known.
   */
  long take(long needed) {
    if (left == 0) {
      long count = needed > 0 ? needed : draws.ahead(taken);
      IdentitySource.Values drawn = source.draw(column.id(), count, farthest);
      next = drawn.first();
      left = drawn.count();
    }
    long value = next;
    next += column.step(); // beyond the last value of a type it is not used
    left--;
    taken++;
    use(value);
    return value;
  }

  private void use(long value) {
    if (column.always()) {
      return; // no user gives a value that could be one of these
    }
    long[] last = used.isEmpty() ? null : used.get(used.size() - 1);
    if (last != null && last[1] + column.step() == value) {
      last[1] = value;
    } else {
      used.add(new long[] {value, value});
    }
  }

  /**
   * Gives no later row the value that a user gives.
   *
   * @throws org.apache.spark.sql.AnalysisException if a row of the task has got the value before
   */
  void skip(long given) {
    if (column.always()) {
      return; // a row that keeps its value
    }
    for (long[] range : used) {
      long distance = ahead(range[0], given);
      boolean within = isAhead(range[0], given) && !isBeyond(range[1], given);
      if (within && Long.remainderUnsigned(distance, stride()) == 0) {
        throw Refusal.invalid(
            "A row has the value " + given + " in identity column " + ColumnNames.quote(column.name())
                + ", which the table gave to another row before; give other values, or NULL to all"
                + " rows.");
      }
    }
    if (farthest == null || isBeyond(farthest, given)) {
      farthest = given;
    }
    if (left > 0 && isAhead(next, given)) {
      long skipped = Long.divideUnsigned(ahead(next, given), stride());
      if (Long.compareUnsigned(skipped, left - 1) >= 0) {
        left = 0;
      } else {
        next += (skipped + 1) * column.step();
        left -= skipped + 1;
      }
    }
  }

  /** Tells what users gave, so that the commit finds a value that another task got. */
  void end() {
    if (farthest != null) {
      source.given(column.id(), farthest);
    }
  }

  /** Returns the size of a step as an unsigned number. */
  private long stride() {
    return column.step() > 0 ? column.step() : -column.step();
  }

  /** Returns how far {@code to} is from {@code from}, in the direction of the steps, unsigned. */
  private long ahead(long from, long to) {
    return column.step() > 0 ? to - from : from - to;
  }

  private boolean isAhead(long from, long to) {
    return column.step() > 0 ? to >= from : to <= from;
  }

  private boolean isBeyond(long from, long to) {
    return isAhead(from, to) && from != to;
  }
}
