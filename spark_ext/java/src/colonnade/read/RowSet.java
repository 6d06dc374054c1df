package colonnade.read;

import colonnade.format.DeletionVector;
import colonnade.format.Footer;
import colonnade.format.RowSetEntry;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** One open RowSet: its footer, the indexes of the required columns, and its deletion vector. */
final class RowSet {
  final RowSetScan scan;

  /**
   * The blocks of the columns to read, in the order of the plan. An element is null if the RowSet
   * does not have the column.
   */
  final OpenColumnSegment[] segments;
  final long[] cuts;
  final DeletionVector vector;
  /** The stretches to read, in row order. */
  final int[] chosen;

  /** The objects of the columns that no update has replaced. */
  private final Stored own;
  /** The objects of replaced columns. An entry is opened when its first column is opened. */
  private final Map<RowSetEntry, Stored> replacements = new IdentityHashMap<>();
  /** The source of the bytes of each column to read. */
  private final RowSetSource[] sources;

  /** The bytes and the footer of some columns of a RowSet. */
  private record Stored(RowSetSource source, Footer footer) {
    static Stored open(ByteSource store, ReadPlan plan, RowSetEntry entry) throws IOException {
      RowSetSource source = new RowSetSource(store, plan.prefix(), entry);
      return new Stored(source, source.footer());
    }
  }

  RowSet(ByteSource store, ReadPlan plan, RowSetScan scan) throws IOException {
    this.scan = scan;
    RowSetEntry entry = scan.rowset().entry();
    own = Stored.open(store, plan, entry);
    cuts = entry.cuts() == null ? null : entry.cuts().boundaries(entry.rows());
    if (cuts == null) {
      throw StoreException.corruption(
          "RowSet " + entry.object() + " has cuts that do not ascend to its row count.", null);
    }
    List<TableField> columns = plan.columns();
    for (TableField column : columns) {
      openReplacement(store, plan, column);
    }
    segments = new OpenColumnSegment[columns.size()];
    sources = columns.stream().map(each -> stored(each).source()).toArray(RowSetSource[]::new);
    List<Reads.Read> reads = new ArrayList<>();
    for (int i = 0; i < segments.length; i++) {
      int at = i;
      reads.add(() -> segments[at] = open(columns.get(at)));
    }
    Reads.all(isRemote(), reads);
    chosen = choose(store, plan);
    JsonNode deleted = scan.rowset().amendments().vector();
    vector =
        deleted == null
            ? null
            : DeletionVector.read(store, plan.prefix(), deleted, entry.rows());
  }

  /** Returns the RowSet that has the current values of a replaced column, or else null. */
  private RowSetEntry replacement(TableField column) {
    return scan.rowset().amendments().replaced().get(column.id());
  }

  private void openReplacement(ByteSource store, ReadPlan plan, TableField column)
      throws IOException {
    RowSetEntry replaced = replacement(column);
    if (replaced != null && !replacements.containsKey(replaced)) {
      replacements.put(replaced, Stored.open(store, plan, replaced));
    }
  }

  private Stored stored(TableField column) {
    RowSetEntry replaced = replacement(column);
    return replaced == null ? own : replacements.get(replaced);
  }

  private OpenColumnSegment open(TableField column) throws IOException {
    Stored stored = stored(column);
    if (stored != own && !stored.footer().columns().containsKey(column.id())) {
      throw OpenColumnSegment.damaged(
          column,
          stored.source().locate(stored.source().columnSegmentName(column.id())),
          "what replaces it does not have it",
          null);
    }
    return OpenColumnSegment.open(column, stored.footer(), stored.source(), cuts);
  }

  /** Whether a read may cost a round trip. */
  boolean isRemote() {
    return Arrays.stream(sources).anyMatch(RowSetSource::isRemote);
  }

  private int[] choose(ByteSource store, ReadPlan plan) throws IOException {
    int[] stretches = stretches();
    if (plan.pruner() == null || stretches.length == 0) {
      return stretches;
    }
    Map<Integer, OpenColumnSegment> known = new HashMap<>();
    for (TableField column : plan.pruner().columns()) {
      int at = plan.columns().indexOf(column);
      openReplacement(store, plan, column);
      OpenColumnSegment found = at >= 0 ? segments[at] : open(column);
      if (found != null) {
        known.put(column.id(), found);
      }
    }
    return new StretchPruning(plan.pruner(), cuts, known).kept(stretches);
  }

  /** Returns the stretches that make up the row ranges of the plan. */
  private int[] stretches() {
    List<Integer> found = new ArrayList<>();
    for (long[] range : scan.ranges()) {
      int first = Arrays.binarySearch(cuts, range[0]);
      int end = Arrays.binarySearch(cuts, range[1]);
      if (first < 0 || end < 0) {
        throw new IllegalArgumentException(
            "Row ranges of RowSet " + scan.rowset().entry().object()
                + " do not begin and end at cuts.");
      }
      for (int cut = first; cut < end; cut++) {
        found.add(cut);
      }
    }
    return found.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Returns the number of stored bytes that a stretch has in the columns to read. */
  long byteCount(int cut) {
    long total = 0;
    for (OpenColumnSegment segment : segments) {
      total += segment == null ? 0 : segment.extent(cut).length();
    }
    return total;
  }

  /**
   * Reads the bytes of stretches, by column and by stretch. The element of a column that the RowSet
   * does not have is null. Neighbouring bytes are read in one request.
   */
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
    Reads.all(isRemote(), reads);
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
    List<Slice> data = sources[columns.get(0)].read(name, pieces.stream().map(Piece::extent).toList());
    for (int i = 0; i < data.size(); i++) {
      found[pieces.get(i).column()][pieces.get(i).at()] = data.get(i);
    }
  }
}
