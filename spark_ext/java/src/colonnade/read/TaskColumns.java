package colonnade.read;

import colonnade.encodings.BlockDecoder;
import colonnade.format.TableField;
import colonnade.read.block.DataColumn;
import colonnade.read.plan.ReadPlan;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.MetadataColumn;
import colonnade.read.vector.VectorTree;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * The columns of a task: those that RowSets store, those that say where a row is stored, and static
 * columns. A batch shows the columns that were asked for, in the order of these.
 *
 * @param fields what to read from RowSets, for each of {@code stored} the column of the table
 * @param statics the static columns, or null without one
 */
record TaskColumns(
    List<TableField> fields,
    List<DataColumn> stored,
    List<MetadataColumn> metadata,
    StaticColumns statics,
    ColumnarBatch batch) {

  /** Returns the columns with which a task answers what Spark asks for. */
  static TaskColumns of(JsonNode task, StructType readSchema, Map<String, String> hadoopConf) {
    List<TableField> schema = ReadPlan.schema(task.get("plan"));
    List<TableField> fields = new ArrayList<>();
    List<DataColumn> stored = new ArrayList<>();
    List<MetadataColumn> metadata = new ArrayList<>();
    List<ColumnVector> vectors = new ArrayList<>();
    List<StaticColumns.Wanted> wanted = new ArrayList<>();
    for (StructField each : readSchema.fields()) {
      TableField field = TableField.find(each.name(), schema);
      if (field == null) {
        MetadataColumn column = MetadataColumn.of(each, task.path("change"));
        metadata.add(column);
        vectors.add(column.vector());
        continue;
      }
      ColonnadeVector vector = VectorTree.of(each.dataType(), field);
      vectors.add(vector);
      if (field.isStatic()) {
        wanted.add(new StaticColumns.Wanted(field, each.dataType(), vector));
      } else {
        fields.add(field);
        stored.add(new DataColumn(field, vector));
      }
    }
    StaticColumns statics = null;
    if (!wanted.isEmpty()) {
      StaticTable table = StaticTable.of(task, schema, hadoopConf);
      statics = new StaticColumns(table, vectorsOf(table.key(), fields, stored), wanted);
    }
    ColumnarBatch batch = new ColumnarBatch(vectors.toArray(ColumnVector[]::new));
    return new TaskColumns(fields, stored, metadata, statics, batch);
  }

  /** Returns columns that RowSets store alone, each with the vector that shows it. */
  static TaskColumns stored(List<TableField> fields, List<ColonnadeVector> vectors) {
    List<DataColumn> stored = new ArrayList<>();
    for (int i = 0; i < vectors.size(); i++) {
      stored.add(new DataColumn(fields.get(i), vectors.get(i)));
    }
    ColumnarBatch batch = new ColumnarBatch(vectors.toArray(ColumnVector[]::new));
    return new TaskColumns(fields, stored, List.of(), null, batch);
  }

  /** Returns the vectors of some columns. Adds the columns that are not read yet. */
  private static ColonnadeVector[] vectorsOf(
      List<TableField> wanted, List<TableField> fields, List<DataColumn> stored) {
    ColonnadeVector[] vectors = new ColonnadeVector[wanted.size()];
    for (int i = 0; i < vectors.length; i++) {
      TableField field = wanted.get(i);
      int at = fields.indexOf(field);
      if (at < 0) {
        at = fields.size();
        fields.add(field);
        stored.add(new DataColumn(field, VectorTree.ofOrdered(field)));
      }
      vectors[i] = stored.get(at).vector;
    }
    return vectors;
  }

  /**
   * Makes every vector show {@code count} rows of a RowSet from {@code first} on. If {@code kept}
   * is not null, shows only the rows that it names.
   */
  void show(RowSet rowset, BlockDecoder decoder, long first, int count, int[] kept)
      throws IOException {
    for (DataColumn column : stored) {
      column.show(decoder, first, count, kept);
    }
    for (MetadataColumn column : metadata) {
      column.show(rowset.scan.rowset(), first, count, kept);
    }
    int left = kept == null ? count : kept.length;
    if (statics != null) {
      statics.show(left);
    }
    batch.setNumRows(left);
  }
}
