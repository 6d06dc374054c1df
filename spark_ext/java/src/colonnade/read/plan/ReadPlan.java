package colonnade.read.plan;

import colonnade.format.TableField;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * A parsed task: the columns and RowSets to read, and the predicate for pruning.
 *
 * <p>{@code columns} has each column of the table that the reader needs once.
 */
public record ReadPlan(
    String url, String prefix, List<TableField> schema, List<TableField> columns,
    List<RowSetScan> rowsets, Pruner pruner) {

  public static List<TableField> schema(JsonNode plan) {
    List<TableField> fields = new ArrayList<>();
    plan.get("view").get("columns").get("fields").forEach(each -> fields.add(TableField.parse(each)));
    return fields;
  }

  public static ReadPlan of(JsonNode task, List<TableField> schema, List<TableField> columns) {
    JsonNode plan = task.get("plan");
    Pruner pruner = Pruner.of(plan.get("predicate"), schema, task.get("most_members").intValue());
    return new ReadPlan(
        task.get("url").textValue(),
        plan.get("view").get("prefix").textValue(),
        schema,
        columns,
        RowSetScan.of(plan),
        pruner);
  }
}
