package colonnade.read;

import colonnade.read.block.Reads;
import colonnade.read.plan.ReadPlan;
import colonnade.read.plan.RowSetScan;
import colonnade.store.ByteSource;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

/**
 * Reads the bytes of a plan window by window. Reads the next window in the background while the
 * reader decodes the current one. Holds at most two windows. A window has about 8 MiB, which
 * readers of one task share, or about 32 MiB where every window costs a round trip. Where opening a RowSet costs round trips, the next
 * RowSets are opened at the same time. Their ends are held, too, with at most about 2 MiB each.
 */
final class WindowReader implements AutoCloseable {
  private static final long WINDOW_BYTES = 8L << 20;

  private static final long LEAST_WINDOW_BYTES = 1L << 20;

  /** The size of a window that costs a round trip, and a request for each column. */
  static final long FAR_WINDOW_BYTES = 32L << 20;

  /** How many RowSets are opened at the same time. */
  private static final int OPENED_AT_ONCE = 8;

  private final ByteSource store;
  private final ReadPlan plan;
  private final Iterator<RowSetScan> rowsets;
  private final long windowBytes;
  private final Deque<FutureTask<RowSet>> opening = new ArrayDeque<>();
  private RowSet rowset;
  private int position;
  private Future<Window> ahead;

  /** Creates a reader. {@code readers} is the number of those that are used at the same time. */
  WindowReader(ByteSource store, ReadPlan plan, int readers) {
    this.store = store;
    this.windowBytes = Math.max(LEAST_WINDOW_BYTES, WINDOW_BYTES / readers);
    this.plan = plan;
    this.rowsets = plan.rowsets().iterator();
  }

  /**
   * Returns the next window in row order, or null at the end. Starts the read of the window after
   * it.
   */
  Window next() throws IOException {
    Window window = ahead == null ? read() : Reads.await(ahead);
    boolean more = hasMoreRowSets() || (rowset != null && position < rowset.chosen.length);
    ahead = window != null && more ? Reads.ahead(this::read) : null;
    return window;
  }

  private Window read() throws IOException {
    while (rowset == null || position == rowset.chosen.length) {
      if (!hasMoreRowSets()) {
        return null;
      }
      end();
      rowset = open();
      rowset.begin();
      position = 0;
    }
    long limit = rowset.isReadInSmallWindows() ? windowBytes : FAR_WINDOW_BYTES;
    int first = position;
    long size = 0;
    do {
      size += rowset.byteCount(rowset.chosen[position++]);
    } while (position < rowset.chosen.length
        && size + rowset.byteCount(rowset.chosen[position]) <= limit);
    int[] stretches = Arrays.copyOfRange(rowset.chosen, first, position);
    return new Window(rowset, stretches, rowset.read(stretches));
  }

  private boolean hasMoreRowSets() {
    return !opening.isEmpty() || rowsets.hasNext();
  }

  /** Returns the next RowSet. Begins to open the RowSets after it if that costs round trips. */
  private RowSet open() throws IOException {
    int most = store.isRemote() ? OPENED_AT_ONCE : 1;
    while (rowsets.hasNext() && opening.size() < most) {
      RowSetScan scan = rowsets.next();
      FutureTask<RowSet> next = new FutureTask<>(() -> new RowSet(store, plan, scan));
      opening.add(next);
      if (store.isRemote() && !scan.rowset().entry().isInline()) {
        Reads.ahead(next);
      }
    }
    FutureTask<RowSet> first = opening.remove();
    // It does nothing if another thread has begun it.
    first.run();
    return Reads.await(first);
  }

  @Override
  public void close() {
    Future<Window> last = ahead;
    if (last == null) {
      end();
      return;
    }
    // The last read is short. The caller need not wait for it.
    Reads.ahead(
        () -> {
          try {
            return last.get();
          } finally {
            end();
          }
        });
  }

  /** Ends the requests of the current RowSet. */
  private void end() {
    if (rowset != null) {
      rowset.close();
    }
  }
}
