package colonnade.read;

import colonnade.format.Regions;
import colonnade.format.rowset.LiveRowSet;
import colonnade.format.rowset.RowSetEntry;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.roaringbitmap.RoaringBitmap;

/**
 * Hidden rows of RowSets that this process has found, so that the next task need not find them.
 * Neither a RowSet nor a region ever changes. Of each RowSet, the rows of the regions are kept that
 * were asked for last. Safe for concurrent use by several threads.
 *
 * <p>Decisions: docs/decisions/statements.md#hidden-rows-are-found-once-in-a-process
 */
final class HiddenRowCache {
  /** What all tasks of this process have found. */
  static final HiddenRowCache OF_PROCESS = new HiddenRowCache(16L << 20);

  private static final long ENTRY_BYTES = 500;
  private static final long REGION_BYTES = 400;

  private final long limit;
  private final Map<Name, Found> kept = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** Finds the hidden rows of some stretches. */
  interface Search {
    RoaringBitmap find(int[] stretches) throws IOException;
  }

  /** The store, the RowSet and the replaced columns, which together decide the stored rows. */
  private record Name(String url, String object, Set<String> replaced) {
    static Name of(String url, LiveRowSet rowset) {
      Set<String> replaced =
          rowset.replaced().values().stream()
              .map(RowSetEntry::object)
              .collect(Collectors.toUnmodifiableSet());
      return new Name(url, rowset.entry().object(), replaced);
    }
  }

  /** The hidden rows of the stretches that were looked at. */
  private record Found(Regions regions, BitSet stretches, RoaringBitmap rows) {
    /** Returns these rows and those that another task has found meanwhile. */
    Found with(Found other) {
      BitSet all = (BitSet) stretches.clone();
      all.or(other.stretches);
      return new Found(regions, all, RoaringBitmap.or(rows, other.rows));
    }

    long bytes() {
      return ENTRY_BYTES + REGION_BYTES * regions.count() + rows.getLongSizeInBytes();
    }
  }

  /** Keeps at most about {@code limit} bytes. */
  HiddenRowCache(long limit) {
    this.limit = limit;
  }

  /**
   * Returns the hidden rows of some stretches of a RowSet, and perhaps hidden rows of further
   * stretches. Searches the stretches that no earlier call has searched.
   *
   * @param url the store of the RowSet
   * @param hidden the regions whose rows are hidden
   */
  RoaringBitmap find(
      String url, LiveRowSet rowset, Regions hidden, int[] stretches, Search search)
      throws IOException {
    Name name = Name.of(url, rowset);
    Found known = known(name, hidden);
    int[] open = Arrays.stream(stretches).filter(cut -> !known.stretches.get(cut)).toArray();
    if (open.length > 0) {
      known.rows.or(search.find(open));
      Arrays.stream(open).forEach(known.stretches::set);
      keep(name, known);
    }
    return known.rows;
  }

  /** Returns a copy of the kept rows; without rows, if none are kept of these regions. */
  private synchronized Found known(Name name, Regions regions) {
    Found found = kept.get(name);
    return found == null || !found.regions.equals(regions)
        ? new Found(regions, new BitSet(), new RoaringBitmap())
        : new Found(regions, (BitSet) found.stretches.clone(), found.rows.clone());
  }

  private synchronized void keep(Name name, Found found) {
    Found other = kept.remove(name);
    if (other != null) {
      bytes -= other.bytes();
      if (other.regions.equals(found.regions)) {
        found = found.with(other);
      }
    }
    kept.put(name, found);
    bytes += found.bytes();
    Iterator<Found> oldest = kept.values().iterator();
    while (bytes > limit && oldest.hasNext()) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }
}
