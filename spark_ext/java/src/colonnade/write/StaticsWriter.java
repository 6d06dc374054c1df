package colonnade.write;

import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes the rows of a task, and the static values that they bring. */
final class StaticsWriter implements RowWriter {
  private final StaticsOutput statics;
  private final RowWriter rows;
  private long updated;

  /**
   * Creates a writer.
   *
   * @param statics is closed with this writer
   * @param rows writes rows and gives their static values to {@code statics}; null if rows only
   *     bring static values, and are not written themselves
   */
  StaticsWriter(StaticsOutput statics, RowWriter rows) {
    this.statics = statics;
    this.rows = rows;
  }

  @Override
  public void write(InternalRow row, long origin) throws IOException {
    if (rows != null) {
      rows.write(row, origin);
    } else {
      statics.bring(row);
      updated++;
    }
  }

  @Override
  public Written finish() throws IOException {
    List<RowWriter> writers = rows == null ? List.of() : List.of(rows);
    return statics.finish(RowWriter.finish(writers), updated);
  }

  @Override
  public void abort() {
    if (rows != null) {
      rows.abort();
    }
    statics.abort();
  }

  @Override
  public void close() {
    if (rows != null) {
      rows.close();
    }
    statics.close();
  }
}
