package colonnade.read;

import colonnade.format.StoredField;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A task taken apart: which columns of which RowSets to read, and what rules out blocks.
 *
 * <p>{@code columns} are those of the table that the reader wants, each once.
 */
record ReadPlan(
    String url, String prefix, List<StoredField> schema, List<StoredField> columns,
    List<RowSetEntry> rowsets, Pruner pruner) {

  static List<StoredField> schema(JsonNode plan) {
    List<StoredField> fields = new ArrayList<>();
    plan.get("table_schema").get("fields").forEach(each -> fields.add(StoredField.parse(each)));
    return fields;
  }

  /** The column of a name, or of the name without regard to case; null when there is none. */
  static StoredField find(String name, List<StoredField> schema) {
    StoredField found = null;
    for (StoredField field : schema) {
      if (field.name().equals(name)) {
        return field;
      }
      found = field.name().equalsIgnoreCase(name) ? field : found;
    }
    return found;
  }

  static ReadPlan of(JsonNode task, List<StoredField> schema, List<StoredField> columns) {
    JsonNode plan = task.get("plan");
    List<RowSetEntry> rowsets = new ArrayList<>();
    plan.get("rowsets").forEach(each -> rowsets.add(RowSetEntry.parse(each)));
    Pruner pruner = Pruner.of(plan.get("predicate"), schema);
    return new ReadPlan(
        task.get("url").textValue(), plan.get("prefix").textValue(), schema, columns, rowsets,
        pruner);
  }
}
