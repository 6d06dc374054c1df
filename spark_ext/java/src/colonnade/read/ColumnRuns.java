package colonnade.read;

import colonnade.format.Slice;
import colonnade.read.block.OpenColumnSegment;
import colonnade.read.block.Reads;
import colonnade.read.block.RowSetSource.Extent;
import colonnade.store.ByteRun;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * The stored bytes of the columns of a large RowSet behind a network. Each column is one request,
 * whose bytes are read window by window, so that neither requests nor memory grow with the RowSet.
 */
final class ColumnRuns {
  private static final int MOST_COLUMNS = 16;

  /**
   * The most requests that the tasks of a process hold open. A client has some hundred connections
   * for all tasks. If tasks held all of them and each waited for one more, none would ever end.
   */
  private static final int MOST_RUNS = 64;

  /** The requests that the tasks of this process hold open now. */
  private static int held;

  private final OpenColumnSegment[] segments;
  private final ByteRun[] runs;
  private boolean closed;

  private ColumnRuns(OpenColumnSegment[] segments, int end) {
    this.segments = segments;
    runs = new ByteRun[segments.length];
    for (int i = 0; i < runs.length; i++) {
      if (segments[i] != null) {
        Extent last = segments[i].extent(end - 1);
        runs[i] = segments[i].source().run(segments[i].name(), last.offset() + last.length());
      }
    }
  }

  /**
   * Prepares to read neighbouring stretches. Does no I/O. Returns null if windows are to be read
   * instead: for few bytes, scattered stretches or many columns, and while other tasks have all
   * requests.
   */
  static ColumnRuns open(OpenColumnSegment[] segments, int[] chosen, long bytes)
      throws IOException {
    int count = count(segments);
    boolean remote =
        Arrays.stream(segments).allMatch(each -> each == null || each.source().isRemote());
    if (!remote || count > MOST_COLUMNS || bytes <= WindowReader.FAR_WINDOW_BYTES) {
      return null;
    }
    int end = chosen[chosen.length - 1] + 1;
    boolean neighbours = end - chosen[0] == chosen.length;
    return neighbours && hold(count, mostRuns(segments)) ? new ColumnRuns(segments, end) : null;
  }

  private static int mostRuns(OpenColumnSegment[] segments) throws IOException {
    int most = MOST_RUNS;
    for (OpenColumnSegment each : segments) {
      most = each == null ? most : Math.min(most, each.source().mostRuns());
    }
    return most;
  }

  private static synchronized boolean hold(int count, int most) {
    boolean free = held + count <= most;
    held += free ? count : 0;
    return free;
  }

  private static synchronized void release(int count) {
    held -= count;
  }

  private static int count(OpenColumnSegment[] segments) {
    return (int) Arrays.stream(segments).filter(Objects::nonNull).count();
  }

  /**
   * Reads the bytes of stretches, by column and by stretch, as {@link RowSet#read} returns them.
   * Requires: the stretches are neighbours, and follow those of the last call.
   */
  Slice[][] read(int[] stretches) throws IOException {
    Slice[][] found = new Slice[segments.length][];
    List<Reads.Read> reads = new ArrayList<>();
    for (int i = 0; i < segments.length; i++) {
      if (segments[i] != null) {
        int at = i;
        reads.add(() -> found[at] = read(segments[at], runs[at], stretches));
      }
    }
    Reads.all(true, reads);
    return found;
  }

  private static Slice[] read(OpenColumnSegment segment, ByteRun run, int[] stretches)
      throws IOException {
    List<Extent> extents = Arrays.stream(stretches).mapToObj(segment::extent).toList();
    long start = extents.get(0).offset();
    Extent last = extents.get(extents.size() - 1);
    long length = last.offset() + last.length() - start;
    Slice data =
        length == 0 ? Slice.EMPTY : segment.source().read(run, segment.name(), start, length);
    return extents.stream()
        .map(each -> data.part((int) (each.offset() - start), (int) each.length()))
        .toArray(Slice[]::new);
  }

  /** Ends all requests. A read that a killed task has left under way then fails. */
  synchronized void close() {
    if (!closed) {
      closed = true;
      Arrays.stream(runs).filter(Objects::nonNull).forEach(ByteRun::close);
      release(count(segments));
    }
  }
}
