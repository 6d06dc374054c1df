package colonnade.read;

import colonnade.format.Slice;
import colonnade.format.Statistics;
import colonnade.format.TableField;
import colonnade.read.RankedRegions.Box;
import colonnade.read.RankedRegions.Extent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.roaringbitmap.RoaringBitmap;

/**
 * Finds the rows of a RowSet that are inside any of some regions, by their stored values.
 *
 * <p>The sparse index decides most stretches. The other stretches are edges. An edge needs only the
 * columns that decide it.
 */
final class RegionRows {
  /** Edges are read in groups of about this many bytes, or more where a group costs a trip. */
  private static final long GROUP_BYTES = 8L << 20;

  private final RankedRegions regions;
  private final OpenColumnSegment[] segments;
  private final long[] cuts;
  private final DataColumn[] columns;
  private final int[][] ranks;

  /**
   * A stretch that regions may divide.
   *
   * @param decides whether each column decides which rows are inside
   */
  private record Edge(int cut, Extent[] rows, boolean[] decides) {}

  /**
   * Prepares to find rows. Does no I/O.
   *
   * @param open returns the blocks of a column; null for one that the RowSet lacks
   */
  RegionRows(RankedRegions regions, Function<TableField, OpenColumnSegment> open, long[] cuts) {
    this.regions = regions;
    this.cuts = cuts;
    segments = regions.columns().stream().map(open).toArray(OpenColumnSegment[]::new);
    columns =
        regions.columns().stream()
            .map(each -> new DataColumn(each, VectorTree.ofOrdered(each)))
            .toArray(DataColumn[]::new);
    ranks = new int[columns.length][0];
  }

  /** Returns whether a row of a stretch may be inside, as far as the index says. */
  boolean mayMeet(int cut) {
    return !regions.met(extents(cut)).isEmpty();
  }

  /** Returns the numbers of the rows of stretches that are inside. Reads the edges. */
  RoaringBitmap find(int[] stretches) throws IOException {
    long limit =
        StretchReads.isRemote(segments) ? WindowReader.FAR_WINDOW_BYTES : GROUP_BYTES;
    RoaringBitmap found = new RoaringBitmap();
    List<Edge> edges = new ArrayList<>();
    long size = 0;
    for (int cut : stretches) {
      Extent[] rows = extents(cut);
      List<Box> met = regions.met(rows);
      if (met.stream().anyMatch(box -> contains(box, rows))) {
        found.add(cuts[cut], cuts[cut + 1]);
      } else if (!met.isEmpty()) {
        Edge edge = new Edge(cut, rows, decides(met, rows));
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

  private static boolean contains(Box box, Extent[] rows) {
    for (int i = 0; i < rows.length; i++) {
      if (!box.contains(i, rows[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean[] decides(List<Box> met, Extent[] rows) {
    boolean[] decides = new boolean[rows.length];
    for (int i = 0; i < rows.length; i++) {
      int column = i;
      decides[i] = !met.stream().allMatch(box -> box.contains(column, rows[column]));
    }
    return decides;
  }

  private long byteCount(Edge edge) {
    long total = 0;
    for (int i = 0; i < segments.length; i++) {
      boolean read = edge.decides[i] && segments[i] != null;
      total += read ? segments[i].extent(edge.cut).length() : 0;
    }
    return total;
  }

  private Extent[] extents(int cut) {
    Extent[] extents = new Extent[columns.length];
    for (int i = 0; i < extents.length; i++) {
      extents[i] = extent(i, cut);
    }
    return extents;
  }

  private Extent extent(int column, int cut) {
    long rows = cuts[cut + 1] - cuts[cut];
    Statistics found =
        Adapt.statistics(segments[column], regions.columns().get(column), cut, rows);
    Ranks among = regions.ranks(column);
    if (found == null) {
      return new Extent(0, among.greatest(), true);
    }
    long missing = found.nulls() + found.nans();
    if (missing >= rows) {
      return Extent.MISSING;
    }
    return found.low() == null
        ? new Extent(0, among.greatest(), missing > 0)
        : new Extent(among.rank(found.low()), among.rank(found.high()), missing > 0);
  }

  private void addInside(List<Edge> edges, RoaringBitmap found) throws IOException {
    int[][] stretches = new int[columns.length][];
    for (int i = 0; i < stretches.length; i++) {
      int column = i;
      stretches[i] =
          edges.stream().filter(each -> each.decides[column]).mapToInt(Edge::cut).toArray();
    }
    Slice[][] bytes = StretchReads.read(segments, stretches);
    int[] next = new int[columns.length];
    try (BlockDecoder decoder = new BlockDecoder()) {
      for (Edge edge : edges) {
        for (int i = 0; i < columns.length; i++) {
          if (edge.decides[i]) {
            Slice stored = bytes[i] == null ? null : bytes[i][next[i]++];
            columns[i].enter(segments[i], edge.cut, stored, null);
          }
        }
        addInside(edge, decoder, found);
      }
    }
  }

  private void addInside(Edge edge, BlockDecoder decoder, RoaringBitmap found)
      throws IOException {
    long end = cuts[edge.cut + 1];
    for (long row = cuts[edge.cut]; row < end; ) {
      int count = (int) Math.min(end - row, ScanTaskReader.BATCH_ROWS);
      for (int i = 0; i < columns.length; i++) {
        count = edge.decides[i] ? (int) Math.min(count, columns[i].blockEnd(row) - row) : count;
      }
      for (int i = 0; i < columns.length; i++) {
        rank(i, edge, decoder, row, count);
      }
      addInside(row, count, found);
      row += count;
    }
  }

  private void rank(int column, Edge edge, BlockDecoder decoder, long row, int count)
      throws IOException {
    if (ranks[column].length < count) {
      ranks[column] = new int[count];
    }
    if (edge.decides[column]) {
      columns[column].show(decoder, row, count, null);
      regions.ranks(column).rank(columns[column].vector, count, ranks[column]);
    } else {
      Arrays.fill(ranks[column], 0, count, edge.rows[column].any());
    }
  }

  private void addInside(long first, int count, RoaringBitmap found) {
    int start = -1;
    for (int row = 0; row <= count; row++) {
      boolean inside = row < count && regions.contains(ranks, row);
      if (inside && start < 0) {
        start = row;
      } else if (!inside && start >= 0) {
        found.add(first + start, first + row);
        start = -1;
      }
    }
  }
}
