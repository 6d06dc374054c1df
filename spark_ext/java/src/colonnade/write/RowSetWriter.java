package colonnade.write;

import colonnade.encodings.BlockEncoder;
import colonnade.format.TableField;
import colonnade.format.rowset.ObjectNames;
import colonnade.format.rowset.RowSetEntry;
import colonnade.store.ByteSink;
import colonnade.write.job.WriteJob;
import colonnade.write.job.WriteOptions;
import colonnade.write.refusals.InvalidText;
import colonnade.write.rowset.CutsBuilder;
import colonnade.write.rowset.Origins;
import colonnade.write.rowset.RowSetOutput;
import colonnade.write.staged.RowBuffer;
import colonnade.write.staged.Staged;
import colonnade.write.staged.StagedBytes;
import colonnade.write.staged.StagedColumns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Writes the rows of one task of a write as RowSets.
 *
 * <p>Rows are staged up to the next cut, encoded column by column, and released. The writer holds
 * about one block of every column, plus the bytes of a packed RowSet. A row that is wider than a
 * block is held alone between two cuts.
 */
final class RowSetWriter implements RowWriter {
  private final WriteJob job;
  private final List<String> partition;
  private final WriteOptions options;
  private final ByteSink sink;
  private final BlockEncoder encoder;
  private final StagedBytes staged = new StagedBytes();
  private final List<Staged> columns = new ArrayList<>();
  private final Staged[] targets;
  private final int[] ordinals;
  private final long slotBytes;
  private final SortCheck sortCheck;
  private final List<RowSetOutput> finished = new ArrayList<>();
  private final List<RowSetEntry> entries = new ArrayList<>();
  private final List<String> rowSetOrigins = new ArrayList<>();
  private final Origins origins = new Origins();
  private final RowBuffer buffer;
  private final InputRows inputs = new InputRows();
  private RowSetOutput output;
  private int rows;
  private long taken;

  /** The number of rows that were written before the staged rows. */
  private long cutFrom;

  private long mostStaged;

  /** The number of rows that still fit before the next cut. */
  private long room;

  /**
   * Prepares for rows of a schema, whose columns are matched by name.
   *
   * @param partition the partition values of all these rows in the form of the log; null if the
   *     table has no partitions
   * @param encoder is closed with this writer; other writers in the same thread may share it
   * @throws org.apache.spark.sql.AnalysisException naming the columns that do not fit the table
   */
  RowSetWriter(
      WriteJob job,
      StructType rowSchema,
      List<String> partition,
      ByteSink sink,
      BlockEncoder encoder) {
    this.job = job;
    this.partition = partition;
    this.sink = sink;
    this.encoder = encoder;
    options = job.options();
    int[] places = job.placesIn(rowSchema);
    List<Integer> stored = new ArrayList<>();
    for (int i = 0; i < places.length; i++) {
      TableField column = job.columns().get(i);
      DataType found = rowSchema.fields()[places[i]].dataType();
      if (column.isVoid()) {
        StagedColumns.requireVoid(found, column.name());
      } else {
        columns.add(StagedColumns.of(column, found, column.name(), staged));
        stored.add(places[i]);
      }
    }
    ordinals = stored.stream().mapToInt(Integer::intValue).toArray();
    targets = columns.toArray(Staged[]::new);
    slotBytes = columns.stream().mapToLong(Staged::slotBytes).sum();
    sortCheck = new SortCheck(job, columns);
    buffer = new RowBuffer(rowSchema.length());
    room = cutRows();
  }

  @Override
  public void write(InternalRow row, long origin) throws IOException {
    write(row, origin, taken);
  }

  /** Appends a row. {@code input} is its number in the input of the task, counted from 0. */
  void write(InternalRow row, long origin, long input) throws IOException {
    inputs.add(taken, input);
    taken++;
    if (row instanceof UnsafeRow unsafe) {
      buffer(unsafe, origin);
    } else {
      takeBuffered();
      stage(row, origin);
    }
  }

  private void buffer(UnsafeRow row, long origin) throws IOException {
    if (!buffer.add(row)) {
      takeBuffered();
      if (!buffer.add(row)) {
        stageWide(row, origin);
        return;
      }
    }
    origins.add(origin);
    if (buffer.rows() >= room) {
      takeBuffered();
    }
  }

  /**
   * Returns about how many bytes the writer holds in memory. Space for rows counts even if it is
   * unused.
   */
  long heldBytes() {
    long written = output == null ? 0 : output.waitingBytes();
    return mostStaged + written + origins.waitingBytes();
  }

  /** Stages the rows of the buffer. */
  private void takeBuffered() throws IOException {
    if (buffer.rows() > 0) {
      for (int i = 0; i < targets.length; i++) {
        targets[i].appendAll(buffer, ordinals[i]);
      }
      rows += buffer.rows();
      buffer.clear();
      cutIfFull();
    }
  }

  private void stageWide(UnsafeRow row, long origin) throws IOException {
    boolean fillsBlock = row.getSizeInBytes() > options.blockBytes();
    if (fillsBlock) {
      cut();
    }
    stage(row, origin);
    if (fillsBlock) {
      cut();
    }
  }

  private void stage(InternalRow row, long origin) throws IOException {
    origins.add(origin);
    for (int i = 0; i < targets.length; i++) {
      targets[i].append(row, ordinals[i]);
    }
    rows++;
    cutIfFull();
  }

  private void cutIfFull() throws IOException {
    long stagedBytes = staged.total + rows * slotBytes;
    mostStaged = Math.max(mostStaged, stagedBytes);
    if (rows >= cutRows() || stagedBytes >= options.cutBytes()) {
      cut();
    }
    room = cutRows() - rows;
  }

  @Override
  public Written finish() throws IOException {
    takeBuffered();
    cut();
    endRowSet();
    return new Written(entries, rowSetOrigins, List.copyOf(finished), null);
  }

  @Override
  public void abort() {
    if (output != null) {
      finished.add(output);
      output = null;
    }
    finished.forEach(RowSetOutput::abort);
    finished.clear();
    entries.clear();
  }

  @Override
  public void close() {
    origins.close();
    encoder.close();
  }

  /** Returns the most rows that the next cut may have. */
  private long cutRows() {
    long written = output == null ? 0 : output.rows();
    return Math.min(options.blockRows(), options.maxRecords() - written);
  }

  private void cut() throws IOException {
    if (rows == 0) {
      return;
    }
    for (Staged column : columns) {
      InvalidText invalid = column.invalidText();
      if (invalid != null) {
        throw invalid.refusal(inputs.at(cutFrom + invalid.row()));
      }
      column.check(0);
    }
    sortCheck.check(rows);
    if (output == null) {
      ObjectNames names = ObjectNames.fresh(job.prefix(), job.jobId());
      CutsBuilder cuts = new CutsBuilder(options.blockRows());
      output = new RowSetOutput(sink, names, job, partition, encoder, cuts);
    }
    output.add(columns, rows);
    output.cut(rows);
    columns.forEach(Staged::clear);
    staged.total = 0;
    cutFrom += rows;
    inputs.forget(cutFrom);
    rows = 0;
    if (output.byteCount() >= options.targetBytes() || output.rows() == options.maxRecords()) {
      endRowSet();
    }
    room = cutRows();
  }

  private void endRowSet() throws IOException {
    if (output != null) {
      long count = output.rows();
      entries.add(output.finish());
      rowSetOrigins.add(origins.end(count));
      finished.add(output);
      output = null;
    }
  }
}
