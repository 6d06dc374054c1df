package colonnade.read;

import colonnade.encodings.BlockDecoder;
import colonnade.format.Interval;
import colonnade.format.Malformed;
import colonnade.format.Region;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.rowset.Statistics;
import colonnade.read.block.DataColumn;
import colonnade.read.block.OpenColumnSegment;
import colonnade.read.block.StretchReads;
import colonnade.read.vector.IntervalTest;
import colonnade.read.vector.VectorTree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import org.roaringbitmap.RoaringBitmap;

/**
 * Finds the rows of a RowSet that are inside any of some regions, by their stored values.
 *
 * <p>The sparse index decides most stretches. The other stretches are edges. An edge needs only the
 * columns that decide it, and compares its rows only with the regions that it meets.
 */
final class RegionRows {
  /** Edges are read in groups of about this many bytes, or more where a group costs a trip. */
  private static final long GROUP_BYTES = 8L << 20;

  private final List<List<Side>> regions = new ArrayList<>();
  private final List<TableField> fields;
  private final OpenColumnSegment[] segments;
  private final long[] cuts;
  private final DataColumn[] columns;

  /** The test of one column of a region; {@code column} is its place among all columns. */
  private record Side(int column, IntervalTest test) {}

  /**
   * A stretch that regions may divide.
   *
   * @param regions those that it meets, each without the sides that hold all rows of the stretch
   */
  private record Edge(int cut, List<List<Side>> regions) {
    boolean needs(int column) {
      return regions.stream().flatMap(List::stream).anyMatch(each -> each.column == column);
    }
  }

  /**
   * Prepares to find rows. Does no I/O.
   *
   * @param open returns the blocks of a column; null for one that the RowSet lacks
   * @throws Malformed if a column cannot have a bound of a region
   */
  RegionRows(List<Region> all, Function<TableField, OpenColumnSegment> open, long[] cuts)
      throws Malformed {
    this.cuts = cuts;
    fields = columns(all);
    for (Region region : all) {
      List<Side> sides = new ArrayList<>();
      for (Interval each : region.intervals()) {
        sides.add(new Side(fields.indexOf(each.column()), IntervalTest.of(each)));
      }
      regions.add(sides);
    }
    segments = fields.stream().map(open).toArray(OpenColumnSegment[]::new);
    columns =
        fields.stream()
            .map(each -> new DataColumn(each, VectorTree.ofOrdered(each)))
            .toArray(DataColumn[]::new);
  }

  /** Returns the columns by whose values rows are inside. */
  static List<TableField> columns(List<Region> regions) {
    return regions.stream()
        .flatMap(each -> each.intervals().stream())
        .map(Interval::column)
        .distinct()
        .toList();
  }

  /** Returns whether a row of a stretch may be inside, as far as the index says. */
  boolean mayMeet(int cut) {
    return !met(statistics(cut), cut).isEmpty();
  }

  /** Returns the numbers of the rows of stretches that are inside. Reads the edges. */
  RoaringBitmap find(int[] stretches) throws IOException {
    long limit =
        StretchReads.isRemote(segments) ? WindowReader.FAR_WINDOW_BYTES : GROUP_BYTES;
    RoaringBitmap found = new RoaringBitmap();
    List<Edge> edges = new ArrayList<>();
    long size = 0;
    for (int cut : stretches) {
      Statistics[] known = statistics(cut);
      List<List<Side>> open =
          met(known, cut).stream().map(each -> undecided(each, known)).toList();
      if (open.stream().anyMatch(List::isEmpty)) {
        found.add(cuts[cut], cuts[cut + 1]);
      } else if (!open.isEmpty()) {
        Edge edge = new Edge(cut, open);
        edges.add(edge);
        size += byteCount(edge);
      }
      if (size > limit) {
        addInside(edges, found);
        edges.clear();
        size = 0;
      }
    }
    addInside(edges, found);
    return found;
  }

  private Statistics[] statistics(int cut) {
    Statistics[] known = new Statistics[segments.length];
    long rows = cuts[cut + 1] - cuts[cut];
    for (int i = 0; i < known.length; i++) {
      known[i] = OpenColumnSegment.statistics(segments[i], fields.get(i), cut, rows);
    }
    return known;
  }

  private List<List<Side>> met(Statistics[] known, int cut) {
    long rows = cuts[cut + 1] - cuts[cut];
    return regions.stream()
        .filter(sides -> sides.stream().allMatch(e -> e.test.meets(known[e.column], rows)))
        .toList();
  }

  private static List<Side> undecided(List<Side> sides, Statistics[] known) {
    return sides.stream().filter(each -> !each.test.contains(known[each.column])).toList();
  }

  private long byteCount(Edge edge) {
    long total = 0;
    for (int i = 0; i < segments.length; i++) {
      boolean read = segments[i] != null && edge.needs(i);
      total += read ? segments[i].extent(edge.cut).length() : 0;
    }
    return total;
  }

  private void addInside(List<Edge> edges, RoaringBitmap found) throws IOException {
    int[][] stretches = new int[columns.length][];
    for (int i = 0; i < stretches.length; i++) {
      int column = i;
      stretches[i] = edges.stream().filter(e -> e.needs(column)).mapToInt(Edge::cut).toArray();
    }
    Slice[][] bytes = StretchReads.read(segments, stretches);
    int[] next = new int[columns.length];
    try (BlockDecoder decoder = new BlockDecoder()) {
      for (Edge edge : edges) {
        List<DataColumn> needed = new ArrayList<>();
        for (int i = 0; i < columns.length; i++) {
          if (edge.needs(i)) {
            Slice stored = bytes[i] == null ? null : bytes[i][next[i]++];
            columns[i].enter(segments[i], edge.cut, stored, null);
            needed.add(columns[i]);
          }
        }
        addInside(edge, needed, decoder, found);
      }
    }
  }

  private void addInside(
      Edge edge, List<DataColumn> needed, BlockDecoder decoder, RoaringBitmap found)
      throws IOException {
    long end = cuts[edge.cut + 1];
    for (long row = cuts[edge.cut]; row < end; ) {
      int count = (int) Math.min(end - row, ScanTaskReader.BATCH_ROWS);
      for (DataColumn column : needed) {
        count = (int) Math.min(count, column.blockEnd(row) - row);
      }
      for (DataColumn column : needed) {
        column.show(decoder, row, count, null);
      }
      add(found, row, inside(edge, count));
      row += count;
    }
  }

  /** Returns which of the rows that the columns show are inside any region of an edge. */
  private BitSet inside(Edge edge, int count) {
    BitSet inside = new BitSet(count);
    for (List<Side> sides : edge.regions) {
      BitSet rows = new BitSet(count);
      rows.set(0, count);
      rows.andNot(inside);
      for (Side each : sides) {
        each.test.keep(columns[each.column].vector, rows);
      }
      inside.or(rows);
    }
    return inside;
  }

  private static void add(RoaringBitmap found, long first, BitSet rows) {
    for (int from = rows.nextSetBit(0); from >= 0; ) {
      int end = rows.nextClearBit(from);
      found.add(first + from, first + end);
      from = rows.nextSetBit(end);
    }
  }
}
