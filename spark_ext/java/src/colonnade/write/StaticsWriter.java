package colonnade.write;

import colonnade.format.TableField;
import colonnade.store.ByteSink;
import colonnade.write.staged.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Divides each row in two: the table's own columns are written as for any table, and the static
 * values are written to RowSets beside those of the table. The commit merges the latter into the
 * table of static values.
 *
 * <p>Most rows bring static values that an earlier row has brought. So the writer holds the latest
 * different ones, and writes only the last of equal ones.
 */
final class StaticsWriter implements RowWriter {
  /** How many bytes the held values may take. */
  private static final long MOST_HELD_BYTES = 16L << 20;

  /** What a held row takes beside its values. */
  private static final int BYTES_OF_ENTRY = 128;

  private final StaticsJob job;
  private final boolean always;
  private final boolean alone;
  private final RowWriter own;
  private final RowWriter statics;
  private final UnsafeProjection ownColumns;
  private final UnsafeProjection staticColumns;
  private final Set<UnsafeRow> held = new LinkedHashSet<>();
  private long heldBytes;
  private UnsafeRow last;

  /**
   * Creates a writer for rows of a schema.
   *
   * @param table the job of the table's own rows
   * @param stripped the static columns that rows have
   * @param always whether each row brings static values; otherwise only those that are inserted
   * @param alone whether rows only bring static values, and are not written themselves
   * @param writers creates the writer of the table's own rows for rows of a schema
   */
  StaticsWriter(
      StaticsJob job,
      StructType rowSchema,
      List<TableField> stripped,
      boolean always,
      boolean alone,
      ByteSink sink,
      Function<StructType, RowWriter> writers) {
    this.job = job;
    this.always = always;
    this.alone = alone;
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < rowSchema.length(); i++) {
      String name = rowSchema.fieldNames()[i];
      if (stripped.stream().noneMatch(each -> each.name().equalsIgnoreCase(name))) {
        kept.add(i);
      }
    }
    List<Integer> brought =
        job.job().columns().stream().map(each -> place(each.name(), rowSchema)).toList();
    ownColumns = projection(kept, rowSchema);
    staticColumns = projection(brought, rowSchema);
    own = writers.apply(schema(kept, rowSchema));
    statics = RowWriter.of(job.job(), schema(brought, rowSchema), sink);
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

  private static StructType schema(List<Integer> places, StructType rowSchema) {
    return new StructType(
        places.stream().map(at -> rowSchema.fields()[at]).toArray(StructField[]::new));
  }

  private static UnsafeProjection projection(List<Integer> places, StructType rowSchema) {
    List<Expression> columns = new ArrayList<>();
    for (int at : places) {
      StructField field = rowSchema.fields()[at];
      columns.add(new BoundReference(at, field.dataType(), field.nullable()));
    }
    return UnsafeProjection.create(CollectionConverters.asScala(columns).toSeq());
  }

  @Override
  public void write(InternalRow row) throws IOException {
    if (always) {
      bring(row);
    }
    if (!alone) {
      own.write(ownColumns.apply(row));
    }
  }

  @Override
  public void insert(InternalRow row) throws IOException {
    bring(row);
    own.insert(ownColumns.apply(row));
  }

  private void bring(InternalRow row) throws IOException {
    UnsafeRow values = staticColumns.apply(row);
    if (!brings(values)) {
      return;
    }
    if (!job.distinct()) {
      statics.write(values);
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
      statics.write(each);
    }
    held.clear();
    heldBytes = 0;
    last = null;
  }

  @Override
  public void markInserted() {
    own.markInserted();
  }

  @Override
  public Written finish() throws IOException {
    Written written = own.finish();
    writeHeld();
    Written brought = statics.finish();
    List<RowSetOutput> outputs = new ArrayList<>(written.outputs());
    outputs.addAll(brought.outputs());
    List<Integer> columns = job.job().columns().stream().map(TableField::id).toList();
    Statics found = new Statics(columns, brought.entries());
    return new Written(written.entries(), written.inserted(), outputs, found);
  }

  @Override
  public void abort() {
    own.abort();
    statics.abort();
  }

  @Override
  public void close() {
    own.close();
    statics.close();
  }
}
