package colonnade.write;

import colonnade.read.RowOrder;
import colonnade.write.job.WriteJob;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * Replaces invalid text before a row is used in any other way. The partition, the sort order and
 * the condition of an overwrite are thus computed from the stored values.
 *
 * <p>Rows arrive sorted by their original values. A row whose sort key is changed by the
 * replacement is held back. Held rows are sorted and written to RowSets of their own.
 */
final class ReplacingWriter implements RowWriter {
  private static final int MOST_HELD_ROWS = 65_536;

  private final Supplier<RowWriter> writers;
  private final long mostHeldBytes;
  private final UnaryOperator<InternalRow> replacement;
  private final UnsafeProjection layout;
  private final Comparator<InternalRow> order;

  /** The writer of rows that are in order, followed by the writers of held rows. */
  private final List<RowWriter> open = new ArrayList<>();

  private List<Held> held = new ArrayList<>();
  private long heldBytes;

  /** A row that is out of order, with its origin. */
  private record Held(UnsafeRow row, long origin) {}

  /** Creates a writer. {@code writers} creates writers for rows whose text is valid. */
  ReplacingWriter(WriteJob job, StructType rowSchema, Supplier<RowWriter> writers) {
    this.writers = writers;
    mostHeldBytes = job.options().heldBytes();
    replacement = TextReplacement.inRows(rowSchema, job.usedColumns());
    layout = UnsafeProjection.create(rowSchema);
    order =
        RowOrder.of(
            rowSchema,
            job.sortKey().stream()
                .map(each -> new RowOrder.Key(job.placeIn(rowSchema, each.column()), each.descending()))
                .toList());
    open.add(writers.get());
  }

  @Override
  public void write(InternalRow row, long origin) throws IOException {
    InternalRow valid = replacement.apply(row);
    if (valid != row && order.compare(row, valid) != 0) {
      UnsafeRow kept = layout.apply(valid).copy();
      if (!held.isEmpty() && heldBytes + kept.getSizeInBytes() > mostHeldBytes
          || held.size() == MOST_HELD_ROWS) {
        writeHeld();
      }
      held.add(new Held(kept, origin));
      heldBytes += kept.getSizeInBytes();
    } else {
      open.get(0).write(valid == row ? row : layout.apply(valid), origin);
    }
  }

  private void writeHeld() throws IOException {
    RowWriter writer = writers.get();
    open.add(writer);
    held.sort(Comparator.comparing(Held::row, order::compare));
    for (Held each : held) {
      writer.write(each.row(), each.origin());
    }
    held = new ArrayList<>();
    heldBytes = 0;
  }

  @Override
  public Written finish() throws IOException {
    if (!held.isEmpty()) {
      writeHeld();
    }
    return RowWriter.finish(open);
  }

  @Override
  public void abort() {
    open.forEach(RowWriter::abort);
  }

  @Override
  public void close() {
    open.forEach(RowWriter::close);
  }
}
