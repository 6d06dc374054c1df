package colonnade.read;

import colonnade.format.TableField;
import colonnade.format.rowset.BloomFilter;
import colonnade.format.rowset.Statistics;
import colonnade.read.block.OpenColumnSegment;
import colonnade.read.block.Reads;
import colonnade.read.plan.Pruner;
import colonnade.read.vector.Adapt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Finds the stretches of one RowSet that may have matching rows. Bounds are checked first. Bloom
 * filters are read only for stretches that they might rule out.
 *
 * <p>{@code segments} has the columns of the predicate that the RowSet has, by column id.
 */
record StretchPruning(
    Pruner pruner, long[] cuts, Map<Integer, OpenColumnSegment> segments, RowSetRegions regions) {
  /** Filters are read in groups of about this many bytes. */
  private static final long FILTERS_AT_ONCE_BYTES = 8L << 20;

  /** Tests whether a Bloom filter of a stretch may hold at least one of the given hashes. */
  private interface FilterTest {
    boolean mayHold(int cut, OpenColumnSegment segment, long[] hashes);
  }

  /** Returns the stretches that may have matching rows, in their order. */
  int[] kept(int[] stretches) throws IOException {
    int[] byBounds =
        Arrays.stream(stretches).filter(cut -> mayMatch(cut, (at, s, h) -> true)).toArray();
    if (segments.values().stream().noneMatch(OpenColumnSegment::hasFilters)) {
      return byBounds;
    }
    List<Integer> kept = new ArrayList<>();
    List<Integer> window = new ArrayList<>();
    Map<Integer, Set<Integer>> asked = new HashMap<>();
    long size = 0;
    for (int cut : byBounds) {
      window.add(cut);
      size += ask(cut, asked);
      if (size >= FILTERS_AT_ONCE_BYTES) {
        kept.addAll(answered(window, asked));
        window.clear();
        asked.clear();
        size = 0;
      }
    }
    kept.addAll(answered(window, asked));
    return kept.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * Adds to {@code asked} the filters that might rule out a stretch, by column. Returns the total
   * length of these filters in bytes, or 0 if they cannot rule out the stretch.
   */
  private long ask(int cut, Map<Integer, Set<Integer>> asked) {
    Set<Integer> needed = new TreeSet<>();
    boolean may =
        mayMatch(
            cut,
            (at, segment, hashes) -> {
              needed.add(segment.wanted().id());
              return false;
            });
    if (may) {
      return 0;
    }
    needed.forEach(each -> asked.computeIfAbsent(each, id -> new TreeSet<>()).add(cut));
    return needed.stream().mapToLong(each -> segments.get(each).filterLength(cut)).sum();
  }

  /**
   * Reads the filters in {@code asked}, and returns the stretches of {@code window} that they do
   * not rule out.
   */
  private List<Integer> answered(List<Integer> window, Map<Integer, Set<Integer>> asked)
      throws IOException {
    Map<Integer, Map<Integer, List<byte[]>>> found = new HashMap<>();
    List<Reads.Read> reads = new ArrayList<>();
    asked.forEach(
        (column, wanted) ->
            reads.add(
                () -> {
                  List<Integer> ascending = List.copyOf(wanted);
                  Map<Integer, List<byte[]>> filters = segments.get(column).filters(ascending);
                  synchronized (found) {
                    found.put(column, filters);
                  }
                }));
    Reads.all(segments.values().stream().anyMatch(each -> each.source().isRemote()), reads);
    return window.stream().filter(cut -> mayMatch(cut, reader(found))).toList();
  }

  private static FilterTest reader(Map<Integer, Map<Integer, List<byte[]>>> found) {
    return (cut, segment, hashes) -> {
      Map<Integer, List<byte[]>> filters = found.get(segment.wanted().id());
      return filters == null
          || !filters.containsKey(cut)
          || filters.get(cut).stream()
              .anyMatch(each -> each == null || BloomFilter.mayHold(each, hashes));
    };
  }

  private boolean mayMatch(int cut, FilterTest filters) {
    long rows = cuts[cut + 1] - cuts[cut];
    return pruner.mayMatch(
        rows,
        new Pruner.Known() {
          @Override
          public Statistics statistics(TableField column) {
            return OpenColumnSegment.statistics(segments.get(column.id()), column, cut, rows);
          }

          @Override
          public boolean mayMask(int column) {
            return regions.mayMask(column, cut);
          }

          @Override
          public boolean mayHold(int column, long[] hashes) {
            OpenColumnSegment segment = segments.get(column);
            return segment == null
                || segment.filterLength(cut) == 0
                || !Adapt.keepsBounds(segment.column(), segment.wanted())
                || filters.mayHold(cut, segment, hashes);
          }
        });
  }
}
