package colonnade.read;

import colonnade.format.Interval;
import colonnade.format.Malformed;
import colonnade.format.Region;
import colonnade.format.TableField;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Some regions, whose intervals are ranges of {@link Ranks}.
 *
 * <p>The ranks of a row lead from step to step, one column after the other. Each step leaves the
 * regions that the row may still be inside. Steps are found when they are first needed, so that a
 * row costs one look-up for each column, however many regions there are.
 */
final class RankedRegions {
  /**
   * The ranks that some rows have in a column.
   *
   * @param low the lowest rank of a value; above {@code high} if every row is missing
   * @param missing whether a row may be missing, which is NULL or NaN
   */
  record Extent(int low, int high, boolean missing) {
    /** The extent of rows that are all missing. */
    static final Extent MISSING = new Extent(0, Ranks.NONE, true);

    /** Returns the rank that a row may have. */
    int any() {
      return low <= high ? low : Ranks.NONE;
    }
  }

  /**
   * A region: its lowest and its highest rank in each column. Where it has no interval, it contains
   * every rank, and that of NULL too.
   */
  record Box(int[] low, int[] high) {
    /** Whether a row may be inside. */
    boolean meets(int column, Extent rows) {
      return isFree(column)
          || Math.max(low[column], rows.low) <= Math.min(high[column], rows.high);
    }

    /** Whether every row is inside. */
    boolean contains(int column, Extent rows) {
      return isFree(column)
          || !rows.missing && low[column] <= rows.low && rows.high <= high[column];
    }

    private boolean isFree(int column) {
      return low[column] <= Ranks.NONE;
    }

    private boolean isFreeFrom(int column) {
      return column == low.length || isFree(column) && isFreeFrom(column + 1);
    }
  }

  /** The regions that are left for a row after some columns. */
  private static final class Step {
    static final Step INSIDE = new Step(List.of(), 0);
    static final Step OUTSIDE = new Step(List.of(), 0);

    final List<Box> left;
    /** The next steps by rank, beginning with {@link Ranks#NONE}; null if not needed yet. */
    final Step[] next;

    Step(List<Box> left, int ranks) {
      this.left = left;
      this.next = new Step[ranks];
    }
  }

  private final List<TableField> columns;
  private final List<Ranks> ranks = new ArrayList<>();
  private final List<Box> boxes;
  private final Step first;

  /**
   * Ranks the bounds of regions.
   *
   * @throws Malformed if a column cannot have one of the bounds
   */
  RankedRegions(List<Region> regions) throws Malformed {
    columns = intervals(regions).map(Interval::column).distinct().toList();
    for (TableField column : columns) {
      List<Interval> own =
          intervals(regions).filter(each -> each.column().equals(column)).toList();
      try {
        ranks.add(Ranks.of(column, own));
      } catch (Malformed error) {
        throw new Malformed("column '" + column.name() + "': " + error.getMessage(), error);
      }
    }
    List<Box> all = new ArrayList<>();
    for (Region region : regions) {
      all.add(box(region));
    }
    boxes = List.copyOf(all);
    first = step(boxes, 0);
  }

  private static Stream<Interval> intervals(List<Region> regions) {
    return regions.stream().flatMap(region -> region.intervals().stream());
  }

  private Box box(Region region) {
    int[] low = new int[columns.size()];
    int[] high = new int[columns.size()];
    Arrays.fill(low, Ranks.NONE);
    Arrays.fill(high, Integer.MAX_VALUE);
    for (Interval each : region.intervals()) {
      int column = columns.indexOf(each.column());
      low[column] = Math.max(low[column], ranks.get(column).lowest(each));
      high[column] = Math.min(high[column], ranks.get(column).highest(each));
    }
    return new Box(low, high);
  }

  List<TableField> columns() {
    return columns;
  }

  Ranks ranks(int column) {
    return ranks.get(column);
  }

  /** Returns the regions that rows of these extents, one for each column, may be inside. */
  List<Box> met(Extent[] rows) {
    List<Box> met = new ArrayList<>();
    for (Box box : boxes) {
      boolean meets = true;
      for (int i = 0; meets && i < rows.length; i++) {
        meets = box.meets(i, rows[i]);
      }
      if (meets) {
        met.add(box);
      }
    }
    return met;
  }

  /** Whether row {@code row} is inside any of the regions, given its ranks by column. */
  boolean contains(int[][] rowRanks, int row) {
    Step step = first;
    for (int column = 0; step.next.length > 0; column++) {
      int rank = rowRanks[column][row];
      Step next = step.next[rank + 1];
      if (next == null) {
        next = after(step, column, rank);
        step.next[rank + 1] = next;
      }
      step = next;
    }
    return step == Step.INSIDE;
  }

  private Step after(Step step, int column, int rank) {
    List<Box> left = new ArrayList<>();
    for (Box box : step.left) {
      if (box.low[column] <= rank && rank <= box.high[column]) {
        left.add(box);
      }
    }
    return step(left, column + 1);
  }

  private Step step(List<Box> left, int column) {
    if (left.isEmpty()) {
      return Step.OUTSIDE;
    }
    if (left.stream().anyMatch(box -> box.isFreeFrom(column))) {
      return Step.INSIDE;
    }
    Step step = new Step(left, ranks.get(column).greatest() + 2);
    if (column + 1 == columns.size()) {
      decide(step, column);
    }
    return step;
  }

  /** Finds all steps after the last column at once, since any of its ranks may have many regions. */
  private static void decide(Step step, int column) {
    int[] changes = new int[step.next.length + 1];
    for (Box box : step.left) {
      if (box.low[column] <= box.high[column]) {
        changes[box.low[column] + 1]++;
        changes[box.high[column] + 2]--;
      }
    }
    int count = 0;
    for (int at = 0; at < step.next.length; at++) {
      count += changes[at];
      step.next[at] = count > 0 ? Step.INSIDE : Step.OUTSIDE;
    }
  }
}
