package colonnade.read;

import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.rowset.DeletionVector;
import colonnade.format.rowset.Footer;
import colonnade.format.rowset.RowSetEntry;
import colonnade.read.block.OpenColumnSegment;
import colonnade.read.block.Reads;
import colonnade.read.block.RowSetSource;
import colonnade.read.block.StretchReads;
import colonnade.read.plan.ReadPlan;
import colonnade.read.plan.RowSetScan;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.roaringbitmap.RoaringBitmap;

/** One open RowSet: its footer, the indexes of the required columns, and its deletion vector. */
public final class RowSet {
  final RowSetScan scan;

  /**
   * The blocks of the columns to read, in the order of the plan. An element is null if the RowSet
   * does not have the column.
   */
  final OpenColumnSegment[] segments;
  final long[] cuts;
  /** The deleted and the hidden rows of the stretches that the plan reads; null without any. */
  final DeletionVector deleted;
  /** By column to read, the rows whose values count as NULL; null without any. */
  final RoaringBitmap[] masked;
  /** The stretches to read, in row order. Each has a row that is not deleted. */
  final int[] chosen;

  /** The stored columns: those of the RowSet's own entry, and those of each entry that replaces. */
  private final Map<RowSetEntry, StoredColumns> stored;
  /** The requests for the columns, if each is read in one; else null. */
  private ColumnRuns runs;

  /** The bytes and the footer of some columns of a RowSet. */
  private record StoredColumns(RowSetSource source, Footer footer) {
    static StoredColumns open(ByteSource store, ReadPlan plan, RowSetEntry entry)
        throws IOException {
      RowSetSource source = new RowSetSource(store, plan.prefix(), entry);
      return new StoredColumns(source, source.footer());
    }
  }

  /** Opens a RowSet. Reads what decides which stretches to read, but not these. */
  RowSet(ByteSource store, ReadPlan plan, RowSetScan scan) throws IOException {
    this.scan = scan;
    RowSetEntry entry = scan.rowset().entry();
    cuts = entry.cuts() == null ? null : entry.cuts().boundaries(entry.rows());
    if (cuts == null) {
      throw StoreException.corruption(
          "RowSet " + entry.object() + " has cuts that do not ascend to its row count, or too many.", null);
    }
    List<TableField> wanted = wanted(plan);
    RowSetRegions regions = new RowSetRegions(store.url(), scan, wanted);
    regions.columns().stream().filter(each -> !wanted.contains(each)).forEach(wanted::add);
    stored = Collections.synchronizedMap(new IdentityHashMap<>());
    DeletionVector vector = openStored(store, plan, wanted);
    OpenColumnSegment[] open = open(wanted);
    segments = Arrays.copyOf(open, plan.columns().size());
    regions.open(column -> open[wanted.indexOf(column)], cuts);
    int[] matching = choose(plan, wanted, open, regions);
    deleted = regions.hide(vector, matching);
    chosen = deleted == null ? matching : live(matching);
    masked = regions.masked(plan.columns(), chosen);
  }

  /**
   * Opens the stored columns, and returns the deletion vector, or null without one. Reads them side
   * by side where a read costs a trip.
   */
  private DeletionVector openStored(ByteSource store, ReadPlan plan, List<TableField> wanted)
      throws IOException {
    JsonNode vector = scan.rowset().vector();
    DeletionVector[] read = new DeletionVector[1];
    List<Reads.Read> reads = new ArrayList<>();
    for (RowSetEntry each : entries(wanted)) {
      reads.add(() -> stored.put(each, StoredColumns.open(store, plan, each)));
    }
    if (vector != null) {
      long rows = scan.rowset().entry().rows();
      reads.add(() -> read[0] = DeletionVector.read(store, plan.prefix(), vector, rows));
    }
    Reads.all(store.isRemote(), reads);
    return read[0];
  }

  private int[] live(int[] stretches) {
    return Arrays.stream(stretches)
        .filter(cut -> !deleted.covers(cuts[cut], cuts[cut + 1]))
        .toArray();
  }

  /**
   * Prepares to read the stretches. Does no I/O. A RowSet that is opened before its turn holds no
   * requests until then, because the tasks of a process share a few.
   */
  void begin() throws IOException {
    long bytes = Arrays.stream(chosen).mapToLong(this::byteCount).sum();
    runs = ColumnRuns.open(segments, chosen, bytes);
  }

  /** Whether a window costs no round trip, so that it may be small. */
  boolean isReadInSmallWindows() {
    return runs != null || !isRemote();
  }

  /** Ends the requests that are still open, and fails reads that are under way. */
  void close() {
    if (runs != null) {
      runs.close();
    }
  }

  /** Returns the columns to read, and then the other columns of the predicate. */
  private static List<TableField> wanted(ReadPlan plan) {
    List<TableField> wanted = new ArrayList<>(plan.columns());
    if (plan.pruner() != null) {
      plan.pruner().columns().stream().filter(each -> !wanted.contains(each)).forEach(wanted::add);
    }
    return wanted;
  }

  /** Returns the RowSet's own entry, and each entry that replaces one of the columns. */
  private List<RowSetEntry> entries(List<TableField> columns) {
    List<RowSetEntry> found = new ArrayList<>(List.of(scan.rowset().entry()));
    for (TableField column : columns) {
      RowSetEntry replaced = replacement(column);
      if (replaced != null && found.stream().noneMatch(each -> each == replaced)) {
        found.add(replaced);
      }
    }
    return found;
  }

  /** Returns the RowSet that has the current values of a replaced column, or else null. */
  private RowSetEntry replacement(TableField column) {
    return scan.rowset().replaced().get(column.id());
  }

  private OpenColumnSegment[] open(List<TableField> columns) throws IOException {
    OpenColumnSegment[] found = new OpenColumnSegment[columns.size()];
    List<Reads.Read> reads = new ArrayList<>();
    for (int i = 0; i < found.length; i++) {
      int at = i;
      reads.add(() -> found[at] = open(columns.get(at)));
    }
    Reads.all(isRemote(), reads);
    return found;
  }

  private OpenColumnSegment open(TableField column) throws IOException {
    RowSetEntry replaced = replacement(column);
    StoredColumns from = stored.get(replaced == null ? scan.rowset().entry() : replaced);
    if (replaced != null && !from.footer().columns().containsKey(column.id())) {
      throw OpenColumnSegment.damaged(
          column,
          from.source().locate(from.source().columnSegmentName(column.id())),
          "what replaces it does not have it",
          null);
    }
    return OpenColumnSegment.open(column, from.footer(), from.source(), cuts);
  }

  /** Whether a read may cost a round trip. */
  private boolean isRemote() {
    return stored.values().stream().anyMatch(each -> each.source().isRemote());
  }

  private int[] choose(
      ReadPlan plan, List<TableField> wanted, OpenColumnSegment[] open, RowSetRegions regions)
      throws IOException {
    int[] stretches = stretches();
    if (plan.pruner() == null || stretches.length == 0) {
      return stretches;
    }
    Map<Integer, OpenColumnSegment> known = new HashMap<>();
    for (TableField column : plan.pruner().columns()) {
      OpenColumnSegment found = open[wanted.indexOf(column)];
      if (found != null) {
        known.put(column.id(), found);
      }
    }
    return new StretchPruning(plan.pruner(), cuts, known, regions).kept(stretches);
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
   * does not have is null. Requires: the stretches follow those of the last call.
   */
  Slice[][] read(int[] stretches) throws IOException {
    if (runs != null) {
      return runs.read(stretches);
    }
    int[][] all = new int[segments.length][];
    Arrays.fill(all, stretches);
    return StretchReads.read(segments, all);
  }
}
