package colonnade.write;

import colonnade.format.TableField;
import colonnade.write.rowset.Origins;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;

/**
 * Divides each row in two: the table's own columns are written as for any table, and the static
 * values go to an output that the writers of a task share.
 */
final class DividingWriter implements RowWriter {
  private final StaticsOutput statics;
  private final boolean always;
  private final RowWriter own;
  private final UnsafeProjection ownColumns;

  /**
   * Creates a writer for rows of a schema.
   *
   * @param statics is not closed with this writer
   * @param stripped the static columns that rows have
   * @param always whether each row brings static values; otherwise only those that are new
   * @param writers creates the writer of the table's own rows for rows of a schema
   */
  DividingWriter(
      StaticsOutput statics,
      StructType rowSchema,
      List<TableField> stripped,
      boolean always,
      Function<StructType, RowWriter> writers) {
    this.statics = statics;
    this.always = always;
    List<Integer> kept = new ArrayList<>();
    for (int i = 0; i < rowSchema.length(); i++) {
      String name = rowSchema.fieldNames()[i];
      if (stripped.stream().noneMatch(each -> each.name().equalsIgnoreCase(name))) {
        kept.add(i);
      }
    }
    ownColumns = RowParts.projection(kept, rowSchema);
    own = writers.apply(RowParts.schema(kept, rowSchema));
  }

  @Override
  public void write(InternalRow row, long origin) throws IOException {
    if (always || origin == Origins.NEW) {
      statics.bring(row);
    }
    own.write(ownColumns.apply(row), origin);
  }

  @Override
  public Written finish() throws IOException {
    return own.finish();
  }

  @Override
  public void abort() {
    own.abort();
  }

  @Override
  public void close() {
    own.close();
  }
}
