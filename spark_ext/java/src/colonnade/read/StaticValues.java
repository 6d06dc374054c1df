package colonnade.read;

import colonnade.format.TableField;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.VectorTree;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * The static values of a table, by partition key, as a process keeps them. Never changes once it is
 * read, so that several threads may use it.
 */
final class StaticValues {
  private final KeyRows keys;
  private final List<KeptColumn> columns;
  private final int rows;
  private final long bytes;

  private StaticValues(List<TableField> fields, List<KeptColumn> key, List<KeptColumn> columns) {
    this.columns = columns;
    rows = key.get(0).rows();
    ColonnadeVector[] vectors =
        fields.stream().map(VectorTree::ofOrdered).toArray(ColonnadeVector[]::new);
    for (int i = 0; i < vectors.length; i++) {
      key.get(i).show(vectors[i]);
    }
    keys = new KeyRows(fields, vectors, rows);
    long total = keys.byteCount();
    for (List<KeptColumn> each : List.of(key, columns)) {
      total += each.stream().mapToLong(KeptColumn::byteCount).sum();
    }
    bytes = total;
  }

  /**
   * Reads all values.
   *
   * @param reader returns the columns of the key, and then the static columns
   * @param key the columns of the key
   */
  static StaticValues read(ScanTaskReader reader, List<TableField> key, List<TableField> columns)
      throws IOException {
    List<KeptColumn> kept = new ArrayList<>();
    try (reader) {
      ColumnarBatch batch = reader.get();
      for (int i = 0; i < batch.numCols(); i++) {
        TableField field = i < key.size() ? key.get(i) : columns.get(i - key.size());
        kept.add(KeptColumn.of(field, (ColonnadeVector) batch.column(i)));
      }
      while (reader.next()) {
        for (int i = 0; i < batch.numCols(); i++) {
          ColonnadeVector vector = (ColonnadeVector) batch.column(i);
          for (int row = 0; row < batch.numRows(); row++) {
            kept.get(i).add(vector, row);
          }
        }
      }
    }
    List<KeptColumn> values = kept.subList(key.size(), kept.size());
    for (KeptColumn each : values) {
      each.addNull();
    }
    return new StaticValues(key, kept.subList(0, key.size()), values);
  }

  long byteCount() {
    return bytes;
  }

  /** Makes vectors, one for each static column, hold all values. */
  void show(List<ColonnadeVector> vectors) {
    for (int i = 0; i < vectors.size(); i++) {
      columns.get(i).show(vectors.get(i));
    }
  }

  /**
   * Writes the positions of the values of some keys: those that vectors show in their first {@code
   * count} rows. The position of a key without values is that of a NULL.
   */
  void find(ColonnadeVector[] shown, int count, int[] positions) {
    keys.find(shown, count, rows, positions);
  }
}
