package colonnade.store.cache;

import colonnade.store.cache.Piece.Range;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Keeps up to {@code limit} bytes of pieces in the memory of this process, the ones used last. Safe
 * for concurrent use by several threads.
 */
final class MemoryPieces {
  private final long limit;
  private final Map<Spot, Piece> pieces = new LinkedHashMap<>(16, 0.75f, true);
  private final Map<String, TreeSet<Long>> starts = new HashMap<>();
  private long bytes;

  /** The object of a piece and its first byte. */
  private record Spot(String key, long start) {}

  MemoryPieces(long limit) {
    this.limit = limit;
  }

  /** Returns the pieces of an object that meet a range. */
  synchronized List<Piece> find(String key, Range range) {
    List<Piece> found = new ArrayList<>();
    for (long start : starts.getOrDefault(key, new TreeSet<>()).headSet(range.end())) {
      Piece piece = pieces.get(new Spot(key, start));
      if (piece.meets(range)) {
        found.add(piece);
      }
    }
    return found;
  }

  /** Keeps a piece, unless it is larger than a quarter of the limit. */
  synchronized void keep(String key, Piece piece) {
    if (4L * piece.data().length > limit) {
      return;
    }
    Piece known = pieces.get(new Spot(key, piece.start()));
    if (known != null && known.end() >= piece.end()) {
      return;
    }
    remove(new Spot(key, piece.start()));
    pieces.put(new Spot(key, piece.start()), piece);
    starts.computeIfAbsent(key, unknown -> new TreeSet<>()).add(piece.start());
    bytes += piece.data().length;
    while (bytes > limit) {
      remove(pieces.keySet().iterator().next());
    }
  }

  /** Drops all pieces of an object. */
  synchronized void forget(String key) {
    for (long start : List.copyOf(starts.getOrDefault(key, new TreeSet<>()))) {
      remove(new Spot(key, start));
    }
  }

  private void remove(Spot spot) {
    Piece piece = pieces.remove(spot);
    if (piece == null) {
      return;
    }
    bytes -= piece.data().length;
    TreeSet<Long> left = starts.get(spot.key());
    left.remove(spot.start());
    if (left.isEmpty()) {
      starts.remove(spot.key());
    }
  }
}
