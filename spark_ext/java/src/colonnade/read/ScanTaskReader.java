package colonnade.read;

import colonnade.encodings.BlockDecoder;
import colonnade.format.Slice;
import colonnade.format.rowset.DeletionVector;
import colonnade.read.block.DataColumn;
import colonnade.read.plan.ReadPlan;
import colonnade.store.ByteSource;
import colonnade.store.StoreException;
import colonnade.store.TaskFailure;
import colonnade.store.cache.CachedSource;
import colonnade.store.hadoop.Stores;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Map;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Reads one task in row order. A batch has the rows between two neighbouring cuts, or fewer if a
 * column has several blocks there, or if a few of the rows are deleted. Its rows are valid until the
 * next batch.
 */
final class ScanTaskReader implements PartitionReader<ColumnarBatch> {
  /**
   * The most rows of a batch. Without it, a stretch that stores no bytes could have any number of
   * rows.
   */
  static final int BATCH_ROWS = 1 << 20;
  /**
   * Deleted rows that are farther apart than this on average divide a batch. Otherwise, the vectors
   * of the batch skip them, which takes time for each row.
   */
  private static final int RUN_ROWS = 512;

  private final ByteSource store;
  private final WindowReader windows;
  private final BlockDecoder decoder = new BlockDecoder();
  private final TaskColumns columns;

  private Window window;
  private int stretch = -1;
  private long row;
  private long end;

  ScanTaskReader(JsonNode task, StructType readSchema, Map<String, String> hadoopConf) {
    this(task, readSchema, hadoopConf, 1);
  }

  /** Creates a reader that shares the memory of a task with other ones, {@code readers} in all. */
  ScanTaskReader(
      JsonNode task, StructType readSchema, Map<String, String> hadoopConf, int readers) {
    this(task, TaskColumns.of(task, readSchema, hadoopConf), hadoopConf, readers);
  }

  /** Creates a reader of some columns. */
  ScanTaskReader(
      JsonNode task, TaskColumns columns, Map<String, String> hadoopConf, int readers) {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new UnsupportedOperationException("Colonnade reads on little-endian machines only.");
    }
    this.columns = columns;
    ReadPlan plan = ReadPlan.of(task, ReadPlan.schema(task.get("plan")), columns.fields());
    store = CachedSource.of(Stores.source(plan.url(), hadoopConf), task.path("cache"));
    windows = new WindowReader(store, plan, readers);
  }

  @Override
  public boolean next() throws IOException {
    try {
      return nextBatch();
    } catch (IOException error) {
      if (StoreException.isCorruption(error)) {
        store.forget();
      }
      throw TaskFailure.of(error);
    }
  }

  private boolean nextBatch() throws IOException {
    while (row < end || nextStretch()) {
      long first = row;
      int count = (int) Math.min(end - first, BATCH_ROWS);
      for (DataColumn column : columns.stored()) {
        count = (int) Math.min(count, column.blockEnd(first) - first);
      }
      DeletionVector deleted = window.rowset().deleted;
      long gone = deleted == null ? 0 : deleted.count(first, first + count);
      boolean cut = 0 < gone && gone * RUN_ROWS <= count;
      count = cut ? (int) (deleted.next(first) - first) : count;
      row += cut ? count + 1 : count;
      int left = cut ? count : count - (int) gone;
      if (left > 0) {
        int[] kept = left == count ? null : deleted.kept(first, count);
        columns.show(window.rowset(), decoder, first, count, kept);
        return true;
      }
    }
    return false;
  }

  private boolean nextStretch() throws IOException {
    stretch++;
    while (window == null || stretch == window.stretches().length) {
      window = windows.next();
      stretch = 0;
      if (window == null) {
        return false;
      }
    }
    RowSet rowset = window.rowset();
    int cut = window.stretches()[stretch];
    row = rowset.cuts[cut];
    end = rowset.cuts[cut + 1];
    for (int i = 0; i < columns.stored().size(); i++) {
      Slice[] bytes = window.bytes()[i];
      Slice stored = bytes == null ? null : bytes[stretch];
      columns.stored().get(i).enter(rowset.segments[i], cut, stored, rowset.masked[i]);
    }
    return true;
  }

  @Override
  public ColumnarBatch get() {
    return columns.batch();
  }

  @Override
  public void close() {
    windows.close();
    decoder.close();
  }
}
