package colonnade.read;

import colonnade.format.TableField;
import colonnade.read.vector.ColonnadeVector;
import java.io.IOException;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/**
 * The static columns of a task. A row has the value that its partition key has in the table of
 * static values; without one, NULL. The values are read when the first rows are shown.
 */
final class StaticColumns {
  private final StaticTable table;
  private final ColonnadeVector[] keys;
  private final List<Wanted> columns;
  private StaticValues values;
  private int[] positions = {};

  /** A static column, the type as which Spark reads it, and the vector that shows it. */
  record Wanted(TableField field, DataType type, ColonnadeVector vector) {}

  /**
   * Creates the columns. Does no I/O.
   *
   * @param keys the vectors that show the columns of the key
   */
  StaticColumns(StaticTable table, ColonnadeVector[] keys, List<Wanted> columns) {
    this.table = table;
    this.keys = keys;
    this.columns = columns;
  }

  /** Makes every vector show the values of the first {@code count} keys that are shown. */
  void show(int count) throws IOException {
    if (values == null) {
      values = table.read(columns);
      values.show(columns.stream().map(Wanted::vector).toList());
    }
    if (positions.length < count) {
      positions = new int[count];
    }
    values.find(keys, count, positions);
    for (Wanted column : columns) {
      column.vector().select(0, positions, count);
    }
  }
}
