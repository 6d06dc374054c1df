package colonnade.write;

import colonnade.format.TableField;
import colonnade.store.ByteSink;
import colonnade.write.job.StaticsJob;
import colonnade.write.refusals.Refusal;
import colonnade.write.rowset.Origins;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;

/**
 * Writes the static values that the rows of a task bring, to RowSets beside those of the table. The
 * commit merges them into the table of static values.
 *
 * <p>Most rows bring static values that an earlier row has brought. So the latest different ones
 * are held, and only the last of equal ones is written.
 */
final class StaticsOutput implements AutoCloseable {
  /** How many bytes the held values may take. */
  private static final long MOST_HELD_BYTES = 16L << 20;

  /** What a held row takes beside its values. */
  private static final int BYTES_OF_ENTRY = 128;

  private final StaticsJob job;
  private final RowWriter writer;
  private final UnsafeProjection columns;
  private final Set<UnsafeRow> held = new LinkedHashSet<>();
  private long heldBytes;
  private UnsafeRow last;

  /** Creates an output for rows of a schema, which may have further columns. */
  StaticsOutput(StaticsJob job, StructType rowSchema, ByteSink sink) {
    this.job = job;
    List<Integer> brought =
        job.job().columns().stream().map(each -> place(each.name(), rowSchema)).toList();
    columns = RowParts.projection(brought, rowSchema);
    writer = RowWriter.of(job.job(), RowParts.schema(brought, rowSchema), sink);
  }

  private static int place(String name, StructType rowSchema) {
    String[] names = rowSchema.fieldNames();
    for (int i = 0; i < names.length; i++) {
      if (names[i].equalsIgnoreCase(name)) {
        return i;
      }
    }
    throw Refusal.invalid(
        "The data has values for static columns, but lacks column '" + name
            + "' of the partition key; give every row its partition key.");
  }

  /** Takes the static values of a row, if it has any. Does not keep a reference to the row. */
  void bring(InternalRow row) throws IOException {
    UnsafeRow values = columns.apply(row);
    if (!brings(values)) {
      return;
    }
    if (!job.distinct()) {
      writer.write(values, Origins.NEW);
      return;
    }
    if (values.equals(last)) {
      return;
    }
    last = values.copy();
    if (!held.remove(last)) {
      heldBytes += last.getSizeInBytes() + BYTES_OF_ENTRY;
    }
    held.add(last);
    if (heldBytes > MOST_HELD_BYTES) {
      writeHeld();
    }
  }

  private boolean brings(UnsafeRow values) {
    for (int i = job.keyColumns(); i < values.numFields(); i++) {
      if (job.nulls() || !values.isNullAt(i)) {
        return true;
      }
    }
    return false;
  }

  private void writeHeld() throws IOException {
    for (UnsafeRow each : held) {
      writer.write(each, Origins.NEW);
    }
    held.clear();
    heldBytes = 0;
    last = null;
  }

  /**
   * Writes all pending values. Returns the result for rows that were written elsewhere; {@code
   * updated} is as in {@link RowWriter.Statics}.
   */
  RowWriter.Written finish(RowWriter.Written rows, long updated) throws IOException {
    writeHeld();
    RowWriter.Written brought = writer.finish();
    List<Integer> ids = job.job().columns().stream().map(TableField::id).toList();
    return rows.with(brought.outputs(), new RowWriter.Statics(ids, brought.entries(), updated));
  }

  /** Removes everything that was written. Requires: no commit of it has been attempted. */
  void abort() {
    writer.abort();
  }

  @Override
  public void close() {
    writer.close();
  }
}
