package colonnade.write.columns;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.function.FlatMapFunction2;
import org.apache.spark.sql.catalyst.InternalRow;

/**
 * The rows of RowSets as a query reads them, with changed rows in place of those with the same
 * handlers. Both are ordered by their handlers, which are their first columns.
 */
final class MergedRows implements Iterator<InternalRow> {
  private static final int HANDLER = 0;

  private final Iterator<InternalRow> rows;
  private final Iterator<InternalRow> changes;
  private InternalRow change;
  private boolean taken;

  MergedRows(Iterator<InternalRow> rows, Iterator<InternalRow> changes) {
    this.rows = rows;
    this.changes = changes;
    change = changes.hasNext() ? changes.next() : null;
  }

  /** Returns a function of rows and changes that writes them as {@code rewrite} writes rows. */
  static FlatMapFunction2<Iterator<InternalRow>, Iterator<InternalRow>, String> written(
      ColumnRewrite rewrite) {
    return (rows, changes) -> rewrite.call(new MergedRows(rows, changes));
  }

  @Override
  public boolean hasNext() {
    if (taken) {
      // Only now: the row that was returned last may be overwritten by the next one.
      change = changes.hasNext() ? changes.next() : null;
      taken = false;
    }
    boolean more = rows.hasNext();
    if (!more && change != null) {
      throw new IllegalStateException("The table has no row " + change.getLong(HANDLER) + ".");
    }
    return more;
  }

  @Override
  public InternalRow next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    InternalRow row = rows.next();
    taken = change != null && change.getLong(HANDLER) == row.getLong(HANDLER);
    return taken ? change : row;
  }
}
