package colonnade.read;

import colonnade.format.TableField;
import colonnade.format.rowset.JsonObject;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.VectorTree;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;

/**
 * Where the static values of a table are: {@code {"key": [<name>], "scan": <scan plan>}}. The scan
 * reads the table of static values, whose columns have the ids of the table's own columns.
 *
 * @param key the columns of the partition key
 */
record StaticTable(
    JsonNode task, String statics, List<TableField> key, Map<String, String> hadoopConf) {

  /** Returns the table that a task names, whose table has static columns. */
  static StaticTable of(JsonNode task, List<TableField> schema, Map<String, String> hadoopConf) {
    String statics = task.path("statics").textValue();
    if (statics == null) {
      throw new IllegalStateException("A task reads static columns, and does not say from where.");
    }
    List<TableField> key = new ArrayList<>();
    JsonObject.parse(statics)
        .get("key")
        .forEach(name -> key.add(TableField.find(name.textValue(), schema)));
    return new StaticTable(task, statics, List.copyOf(key), hadoopConf);
  }

  /** Returns the values of some static columns, which this process may have read already. */
  StaticValues read(List<StaticColumns.Wanted> columns) throws IOException {
    List<TableField> fields = new ArrayList<>(key);
    List<ColonnadeVector> vectors = new ArrayList<>();
    key.forEach(field -> vectors.add(VectorTree.ofOrdered(field)));
    for (StaticColumns.Wanted each : columns) {
      fields.add(each.field());
      vectors.add(VectorTree.of(each.type(), each.field()));
    }
    List<DataType> types = columns.stream().map(StaticColumns.Wanted::type).toList();
    KeptStatics.Name name =
        new KeptStatics.Name(task.get("url").textValue(), statics, fields, types);
    return KeptStatics.OF_PROCESS.get(name, () -> read(fields, vectors));
  }

  private StaticValues read(List<TableField> fields, List<ColonnadeVector> vectors)
      throws IOException {
    ObjectNode scan = ((ObjectNode) task).objectNode();
    scan.setAll((ObjectNode) task);
    scan.set("plan", JsonObject.parse(statics).get("scan"));
    ScanTaskReader reader =
        new ScanTaskReader(scan, TaskColumns.stored(fields, vectors), hadoopConf, 1);
    List<TableField> columns = fields.subList(key.size(), fields.size());
    return StaticValues.read(reader, key, columns);
  }
}
