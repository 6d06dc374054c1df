package colonnade.rowset;

import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** One RowSet, opened: its footer, the indexes of the columns needed, its deletion vector. */
final class RowSet {
  final RowSetEntry entry;
  /** The blocks of the columns to read, in their order; null for those that it does not have. */
  final Segment[] segments;
  final long[] cuts;
  final DeletionVector vector;
  /** The stretches to read, in row order. */
  final int[] chosen;

  private final RowSetSource source;

  RowSet(ByteSource store, ReadPlan plan, RowSetEntry entry) throws IOException {
    this.entry = entry;
    source = new RowSetSource(store, plan.prefix(), entry);
    Footer footer = source.footer();
    cuts = entry.cutRows();
    if (cuts == null) {
      throw StoreException.corruption(
          "RowSet " + entry.object() + " has cuts that are no cuts.", null);
    }
    List<StoredField> columns = plan.columns();
    segments = new Segment[columns.size()];
    List<Reads.Read> reads = new ArrayList<>();
    for (int i = 0; i < segments.length; i++) {
      int at = i;
      reads.add(() -> segments[at] = Segment.open(columns.get(at), footer, source, cuts));
    }
    Reads.all(source.isRemote(), reads);
    chosen = choose(plan, footer);
    vector =
        entry.vector() == null
            ? null
            : DeletionVector.read(store, plan.prefix(), entry.vector(), entry.rows());
  }

  private int[] choose(ReadPlan plan, Footer footer) throws IOException {
    int[] stretches = stretches();
    if (plan.pruner() == null || stretches.length == 0) {
      return stretches;
    }
    Map<Integer, Segment> known = new HashMap<>();
    Set<Integer> missing = new HashSet<>();
    for (StoredField column : plan.pruner().columns()) {
      int at = plan.columns().indexOf(column);
      Segment found =
          at >= 0 ? segments[at] : Segment.open(column, footer, source, cuts);
      if (found == null) {
        missing.add(column.id());
      } else {
        known.put(column.id(), found);
      }
    }
    return Arrays.stream(stretches)
        .filter(
            cut -> {
              long rows = cuts[cut + 1] - cuts[cut];
              return plan.pruner().mayMatch(
                  rows,
                  id ->
                      missing.contains(id)
                          ? new Statistics(rows, 0, null, null, true)
                          : known.get(id).statistics(cut));
            })
        .toArray();
  }

  /** The stretches that make up the ranges of the plan. */
  private int[] stretches() {
    List<Integer> found = new ArrayList<>();
    for (long[] range : entry.ranges()) {
      int first = Arrays.binarySearch(cuts, range[0]);
      int end = Arrays.binarySearch(cuts, range[1]);
      if (first < 0 || end < 0) {
        throw new IllegalArgumentException(
            "Row ranges of RowSet " + entry.object() + " do not begin and end at cuts.");
      }
      for (int cut = first; cut < end; cut++) {
        found.add(cut);
      }
    }
    return found.stream().mapToInt(Integer::intValue).toArray();
  }

  /** How many stored bytes a stretch has in the columns to read. */
  long byteCount(int cut) {
    long total = 0;
    for (Segment segment : segments) {
      total += segment == null ? 0 : segment.extent(cut).length();
    }
    return total;
  }

  /** The bytes of stretches by column (null: not there) and stretch; neighbours read as one. */
  Slice[][] read(int[] stretches) throws IOException {
    Slice[][] found = new Slice[segments.length][];
    Map<String, List<Integer>> byObject = new HashMap<>();
    for (int i = 0; i < segments.length; i++) {
      if (segments[i] != null) {
        found[i] = new Slice[stretches.length];
        byObject.computeIfAbsent(segments[i].name(), name -> new ArrayList<>()).add(i);
      }
    }
    List<Reads.Read> reads = new ArrayList<>();
    byObject.forEach(
        (name, columns) -> reads.add(() -> readObject(name, columns, stretches, found)));
    Reads.all(source.isRemote(), reads);
    return found;
  }

  private record Piece(int column, int at, RowSetSource.Extent extent) {}

  private void readObject(String name, List<Integer> columns, int[] stretches, Slice[][] found)
      throws IOException {
    List<Piece> pieces = new ArrayList<>();
    for (int column : columns) {
      for (int i = 0; i < stretches.length; i++) {
        RowSetSource.Extent extent = segments[column].extent(stretches[i]);
        if (extent.length() == 0) {
          found[column][i] = Slice.EMPTY;
        } else {
          pieces.add(new Piece(column, i, extent));
        }
      }
    }
    pieces.sort((a, b) -> Long.compare(a.extent().offset(), b.extent().offset()));
    List<Slice> data = source.read(name, pieces.stream().map(Piece::extent).toList());
    for (int i = 0; i < data.size(); i++) {
      found[pieces.get(i).column()][pieces.get(i).at()] = data.get(i);
    }
  }
}
