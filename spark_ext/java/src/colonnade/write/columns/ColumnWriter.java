package colonnade.write.columns;

import colonnade.encodings.BlockEncoder;
import colonnade.format.TableField;
import colonnade.format.rowset.ObjectNames;
import colonnade.format.rowset.RowNumbers;
import colonnade.format.rowset.RowSetEntry;
import colonnade.store.ByteSink;
import colonnade.write.TextReplacement;
import colonnade.write.job.WriteJob;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.InvalidText;
import colonnade.write.refusals.Refusal;
import colonnade.write.rowset.CutsBuilder;
import colonnade.write.rowset.RowSetOutput;
import colonnade.write.staged.Staged;
import colonnade.write.staged.StagedBytes;
import colonnade.write.staged.StagedColumns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Writes columns that replace those of RowSets, in one task. Each RowSet has its rows and cuts
 * again. A deleted row has the values of the next live row, or of the last one, so that each value
 * is one that the column can hold. Spec: docs/spec/operations.md#replaced-columns
 */
final class ColumnWriter implements AutoCloseable {
  private static final int HANDLER = 0;
  private static final int CHANGED = 1;
  private static final int VALUES = 2;
  private static final long ROW = 0xFFFF_FFFFL;

  private final WriteJob job;
  private final Map<Long, ColumnRewrite.Shape> shapes;
  private final ByteSink sink;
  private final BlockEncoder encoder;
  private final StagedBytes staged = new StagedBytes();
  private final List<Staged> columns = new ArrayList<>();
  private final long slotBytes;
  private final UnaryOperator<InternalRow> valid;
  private final List<RowSetOutput> outputs = new ArrayList<>();
  private final List<Written> written = new ArrayList<>();
  private final List<Long> wide = new ArrayList<>();
  private final boolean rowsCanMove;
  private final long mostBytes;

  private long rowset = -1;
  private ColumnRewrite.Shape shape;
  private long[] cuts;
  private int nextCut;
  private long rows;
  private long given;
  private int pending;
  private long encoded;
  private RowSetOutput output;
  private RowNumbers changed;
  private long changedRows;
  private InternalRow last;

  /**
   * The columns of a RowSet, as the entry of a RowSet of their own, and the rows that change. The
   * report of a task lists them.
   */
  record Written(long rowset, RowSetEntry stored, long rows, RowNumbers changed) {}

  ColumnWriter(
      WriteJob job,
      StructType rowSchema,
      Map<Long, ColumnRewrite.Shape> shapes,
      ByteSink sink,
      boolean rowsCanMove) {
    this.job = job;
    this.rowsCanMove = rowsCanMove;
    mostBytes = rowsCanMove ? 2 * job.options().cutBytes() : Integer.MAX_VALUE;
    this.shapes = shapes;
    this.sink = sink;
    encoder = new BlockEncoder(job.encoding());
    for (int i = 0; i < job.columns().size(); i++) {
      TableField column = job.columns().get(i);
      columns.add(
          StagedColumns.of(
              column, rowSchema.fields()[VALUES + i].dataType(), column.name(), staged));
    }
    slotBytes = columns.stream().mapToLong(Staged::slotBytes).sum();
    valid =
        job.replacesText()
            ? TextReplacement.inRows(rowSchema, job.usedColumns())
            : row -> row;
  }

  /** Takes a row. Requires: the rows of a RowSet follow each other, ordered by their handlers. */
  void write(InternalRow row) throws IOException {
    long handler = row.getLong(HANDLER);
    if (handler >>> 32 != rowset) {
      endRowSet();
      beginRowSet(handler >>> 32);
    }
    if (output == null) {
      return; // of a wide RowSet
    }
    InternalRow values = valid.apply(row);
    fillUpTo((handler & ROW) + 1, values);
    given++;
    if (row.getBoolean(CHANGED)) {
      changed.add(handler);
      changedRows++;
    }
    if (shape.liveRows() < shape.rows()) {
      last = values.copy();
    }
  }

  private void beginRowSet(long id) {
    rowset = id;
    shape = shapes.get(id);
    if (shape == null) {
      throw new IllegalStateException("The query has rows of RowSet " + id + " as well.");
    }
    cuts = shape.cuts().boundaries(shape.rows());
    nextCut = 1;
    rows = 0;
    encoded = 0;
    given = 0;
    changed = new RowNumbers();
    changedRows = 0;
    CutsBuilder same = new CutsBuilder(job.options().blockRows(), shape.cuts());
    ObjectNames names = ObjectNames.fresh(job.prefix(), job.jobId());
    output = new RowSetOutput(sink, names, job, null, encoder, same);
    outputs.add(output);
  }

  private void fillUpTo(long end, InternalRow values) throws IOException {
    if (end <= rows) {
      throw new IllegalStateException("The rows of RowSet " + rowset + " are out of order.");
    }
    for (; rows < end && output != null; rows++) {
      for (int i = 0; i < columns.size(); i++) {
        columns.get(i).append(values, VALUES + i);
      }
      pending++;
      encodeIfFull(rows + 1 == cuts[nextCut]);
    }
  }

  /** New values may be far wider than those for which the cuts were made. */
  private void encodeIfFull(boolean isCut) throws IOException {
    long bytes = staged.total + pending * slotBytes;
    if (encoded + bytes > mostBytes) {
      giveUp();
      return;
    }
    if (isCut || bytes >= job.options().cutBytes()) {
      encode();
      encoded += bytes;
    }
    if (isCut) {
      output.cut((int) (cuts[nextCut] - cuts[nextCut - 1]));
      nextCut++;
      encoded = 0;
    }
  }

  /** Removes what was written of the RowSet, because readers decode all rows between two cuts. */
  private void giveUp() {
    if (!rowsCanMove) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(job.columns().get(0).name())
              + " would have more than 2 GiB in "
              + (cuts[nextCut] - cuts[nextCut - 1])
              + " neighbouring rows that readers read at once; set it by UPDATE, which moves such"
              + " rows.");
    }
    output.abort();
    output = null;
    wide.add(rowset);
    clear();
  }

  private void clear() {
    columns.forEach(Staged::clear);
    staged.total = 0;
    pending = 0;
  }

  private void encode() throws IOException {
    for (Staged column : columns) {
      InvalidText invalid = column.invalidText();
      if (invalid != null) {
        throw invalid.refusal(rows + 1 - pending + invalid.row());
      }
      column.check(0);
    }
    output.add(columns, pending);
    clear();
  }

  private void endRowSet() throws IOException {
    if (output == null) {
      return;
    }
    if (given != shape.liveRows()) {
      throw new IllegalStateException(
          "The query has " + given + " of " + shape.liveRows() + " rows of RowSet " + rowset + ".");
    }
    if (rows < shape.rows()) {
      fillUpTo(shape.rows(), last);
    }
    if (output == null) {
      return;
    }
    if (changedRows > 0) {
      written.add(new Written(rowset, output.finish(), changedRows, changed));
    } else {
      output.abort();
    }
    output = null;
  }

  List<Written> finish() throws IOException {
    endRowSet();
    return written;
  }

  /** Returns the ids of RowSets of which nothing is written, because their values are too wide. */
  List<Long> wide() {
    return wide;
  }

  /** Removes everything that this writer wrote. Requires: no commit of it has been attempted. */
  void abort() {
    outputs.forEach(RowSetOutput::abort);
  }

  /** Releases native memory. Removes no objects. */
  @Override
  public void close() {
    encoder.close();
  }
}
