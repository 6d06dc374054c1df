package colonnade.write;

import colonnade.write.job.IdentityColumn;
import colonnade.write.job.WriteJob;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import colonnade.write.rowset.Origins;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Gives new rows the values of identity columns before a row is used in any other way. NULL asks for
 * a value. Rows that replace others keep theirs.
 *
 * <p>From the first row that needs a value, rows wait until the task ends or until many wait. So a
 * small write takes exactly the values that it needs.
 *
 * <p>Spark sorts rows before they have values, as if NULL were the value. If the column is part of
 * the sort key, rows that get values are in order among themselves, but not beside rows that bring
 * values. They then have RowSets of their own.
 */
final class IdentityWriter implements RowWriter {
  private final List<Column> columns = new ArrayList<>();
  private final UnsafeProjection layout;
  private final UnsafeRow filled;
  private byte[] filledBytes = new byte[0];
  private final int mostRows;
  private final long mostBytes;
  private final boolean completes;
  private final Supplier<RowWriter> writers;
  private final boolean divides;

  /**
   * First the writer of rows that bring values, or of all rows. Then the writer of rows that get
   * values, if there is one.
   */
  private final List<RowWriter> open = new ArrayList<>();

  private List<Waiting> waiting = new ArrayList<>();
  private long waitingBytes;
  private boolean mayWait = true;

  /** An identity column, and where it is in the rows. */
  private record Column(
      IdentityColumn column, int ordinal, DataType type, IdentitySupply supply) {

    boolean isMissing(InternalRow row) {
      return row.isNullAt(ordinal);
    }

    long valueOf(InternalRow row) {
      return ((Number) row.get(ordinal, type)).longValue();
    }

    void skip(InternalRow row) {
      supply.skip(valueOf(row));
    }

    void set(UnsafeRow row, long value) {
      switch (type.typeName()) {
        case "byte" -> row.setByte(ordinal, (byte) value);
        case "short" -> row.setShort(ordinal, (short) value);
        case "integer" -> row.setInt(ordinal, (int) value);
        default -> row.setLong(ordinal, value);
      }
    }
  }

  /** A row that waits, with its origin. */
  private record Waiting(UnsafeRow row, long origin) {}

  /**
   * Returns a writer that gives values, or just another one for a table without identity columns.
   *
   * @param source where the values come from; null for a table without identity columns
   * @param writers creates writers for rows of a schema that have their values
   */
  static RowWriter before(
      WriteJob job,
      StructType rowSchema,
      IdentitySource source,
      Function<StructType, RowWriter> writers) {
    return job.identities().isEmpty()
        ? writers.apply(rowSchema)
        : new IdentityWriter(job, rowSchema, source, writers);
  }

  private IdentityWriter(
      WriteJob job,
      StructType given,
      IdentitySource source,
      Function<StructType, RowWriter> writers) {
    StructType rowSchema = completed(job, given);
    this.writers = () -> writers.apply(rowSchema);
    completes = rowSchema.length() > given.length();
    open.add(this.writers.get());
    int[] ordinals = job.placesIn(rowSchema);
    for (IdentityColumn each : job.identities()) {
      int ordinal = ordinals[each.position()];
      DataType type = rowSchema.fields()[ordinal].dataType();
      IdentitySupply supply = new IdentitySupply(each, source, job.draws());
      columns.add(new Column(each, ordinal, type, supply));
    }
    divides =
        job.sortKey().stream()
            .anyMatch(key -> job.identities().stream().anyMatch(id -> id.id() == key.column()));
    layout = layout(given, rowSchema);
    filled = new UnsafeRow(rowSchema.length());
    mostRows = job.draws().waitingRows();
    mostBytes = job.options().cutBytes();
  }

  /** Returns the columns of the rows with the identity columns that they leave out, at the end. */
  static StructType completed(WriteJob job, StructType given) {
    StructType complete = given;
    for (IdentityColumn each : job.identities()) {
      if (Stream.of(given.fieldNames()).noneMatch(each.name()::equalsIgnoreCase)) {
        complete = complete.add(each.name(), each.type());
      }
    }
    return complete;
  }

  private static UnsafeProjection layout(StructType given, StructType complete) {
    List<Expression> values = new ArrayList<>();
    for (int i = 0; i < complete.length(); i++) {
      DataType type = complete.fields()[i].dataType();
      values.add(
          i < given.length() ? new BoundReference(i, type, true) : Literal.create(null, type));
    }
    return UnsafeProjection.create(CollectionConverters.asScala(values).toSeq());
  }

  @Override
  public void write(InternalRow given, long origin) throws IOException {
    boolean isNew = origin == Origins.NEW;
    InternalRow row = completes ? layout.apply(given) : given;
    if (isNew) {
      refuseGiven(row);
    }
    if (waiting.isEmpty() && !(mayWait && isNew && needsValue(row))) {
      pass(row, origin, new long[columns.size()]);
      return;
    }
    UnsafeRow kept = unsafe(row).copy();
    waiting.add(new Waiting(kept, origin));
    waitingBytes += kept.getSizeInBytes();
    if (waiting.size() == mostRows || waitingBytes > mostBytes) {
      release();
    }
  }

  private void refuseGiven(InternalRow row) {
    for (Column each : columns) {
      if (each.column().always() && !each.isMissing(row)) {
        throw Refusal.invalid(
            "Column " + ColumnNames.quote(each.column().name())
                + " is GENERATED ALWAYS AS IDENTITY, but"
                + " a row gives it the value " + each.valueOf(row)
                + "; leave the column out, or give NULL.");
      }
    }
  }

  private boolean needsValue(InternalRow row) {
    return columns.stream().anyMatch(each -> each.isMissing(row));
  }

  private UnsafeRow unsafe(InternalRow row) {
    return row instanceof UnsafeRow already ? already : layout.apply(row);
  }

  /** Writes the rows that wait, and lets no further row wait. */
  private void release() throws IOException {
    mayWait = false;
    long[] needed = new long[columns.size()];
    for (Waiting each : waiting) {
      for (int i = 0; i < needed.length; i++) {
        if (!columns.get(i).isMissing(each.row())) {
          columns.get(i).skip(each.row());
        } else if (each.origin() == Origins.NEW) {
          needed[i]++;
        }
      }
    }
    List<Waiting> rows = waiting;
    waiting = new ArrayList<>();
    waitingBytes = 0;
    for (Waiting each : rows) {
      pass(each.row(), each.origin(), needed);
    }
  }

  /** Writes a row with its values. {@code needed} counts what the waiting rows still need. */
  private void pass(InternalRow row, long origin, long[] needed) throws IOException {
    InternalRow written = row;
    for (int i = 0; i < columns.size(); i++) {
      Column column = columns.get(i);
      if (!column.isMissing(row)) {
        column.skip(row);
      } else if (origin == Origins.NEW) {
        if (written == row) {
          written = copied(unsafe(row));
        }
        column.set(filled, column.supply().take(needed[i]));
        needed[i] = Math.max(0, needed[i] - 1);
      }
    }
    RowWriter writer = open.get(0);
    if (divides && written != row) {
      if (open.size() == 1) {
        open.add(writers.get());
      }
      writer = open.get(1);
    }
    writer.write(written, origin);
  }

  private UnsafeRow copied(UnsafeRow row) {
    int size = row.getSizeInBytes();
    if (size > filledBytes.length) {
      filledBytes = new byte[size];
    }
    row.writeToMemory(filledBytes, Platform.BYTE_ARRAY_OFFSET);
    filled.pointTo(filledBytes, Platform.BYTE_ARRAY_OFFSET, size);
    return filled;
  }

  @Override
  public Written finish() throws IOException {
    release();
    columns.forEach(each -> each.supply().end());
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
