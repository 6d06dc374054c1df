package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.HadoopSettings;
import colonnade.planner.Planner;
import colonnade.spark.quirks.expressions.ColumnValues;
import colonnade.spark.quirks.rules.SparkRules;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Gives one column of a table computed values, in rounds. Each round writes the values of RowSets
 * that have none yet. Then the planner commits, unless concurrent writers have added RowSets.
 */
public final class ColumnFill {
  private static final int ROUNDS = 50;

  private final ColonnadeTable table;
  private final ColumnValues values;
  private final Map<String, Object> plan = new HashMap<>();
  private final List<String> asked = new ArrayList<>();
  private final List<String> reports = new ArrayList<>();

  private ColumnFill(ColonnadeTable table, ColumnValues values) {
    this.table = table;
    this.values = values;
  }

  /** Adds a column. {@code type} is DDL, such as {@code int NOT NULL COMMENT 'why'}. */
  public static JsonNode add(String path, String name, String type, String expression) {
    StructType column = column(name, type);
    ColonnadeTable table = load(path);
    DataType parsed = column.fields()[0].dataType();
    ColumnFill fill =
        new ColumnFill(table, new ColumnValues(name, parsed, true, expression, null));
    fill.plan.put("schema", column.json());
    return fill.run(name);
  }

  /** Returns a schema of one column. {@code type} is as in {@link #add}. */
  public static StructType column(String name, String type) {
    StructField parsed = ColumnValues.parseType(name, type);
    StructField field =
        new StructField(name, parsed.dataType(), parsed.nullable(), parsed.metadata());
    return new StructType(new StructField[] {field});
  }

  /** Gives a column values in the rows that meet a condition; null means all rows. */
  public static JsonNode fill(String path, String name, String expression, String condition) {
    ColonnadeTable table = load(path);
    for (StructField field : table.schema().fields()) {
      if (field.name().equalsIgnoreCase(name)) {
        ColumnValues values =
            new ColumnValues(field.name(), field.dataType(), false, expression, condition);
        ColumnFill fill = new ColumnFill(table, values);
        fill.plan.put("schema", null);
        fill.plan.put("where", condition);
        return fill.run(field.name());
      }
    }
    throw ColonnadeException.unchecked(
        "COLONNADE_NOT_FOUND",
        "Column '" + name + "' of table " + path + " does not exist; only whole columns can be"
            + " filled.");
  }

  private static ColonnadeTable load(String path) {
    SparkRules.use();
    return ColonnadeTable.load(path, Map.of()).asStored();
  }

  private JsonNode run(String name) {
    plan.putAll(table.state());
    plan.put("path", table.path());
    plan.put("column", name);
    plan.put("reads", values.reads(table));
    JsonNode planned = Planner.call("plan_fill", plan);
    JsonNode missing = planned;
    for (int round = 0; round < ROUNDS; round++) {
      write(planned, missing);
      Map<String, Object> args = new HashMap<>();
      args.put("fill", planned.get("fill").asText());
      args.put("database", table.state().get("database"));
      args.put("asked", asked);
      args.put("reports", reports);
      missing = Planner.callOnce("commit_fill", args);
      if (missing.has("rows")) {
        return missing;
      }
    }
    throw ColonnadeException.unchecked(
        "COLONNADE_CONFLICT",
        "Other writers added rows to table " + table.path() + " faster than column '" + name
            + "' was computed for them, " + ROUNDS + " times in a row; nothing was changed, run it"
            + " again.");
  }

  /** Writes the values of the RowSets that a reply of the planner lists, at the reply's epoch. */
  private void write(JsonNode planned, JsonNode missing) {
    long epoch = missing.get("epoch").asLong();
    missing.get("asked").forEach(each -> asked.add(each.asText()));
    JsonNode rowsets = met(epoch, missing.get("rowsets"));
    if (rowsets.isEmpty()) {
      return;
    }
    reports.addAll(
        values.write(
            table.ofWholeRowSets(epoch, ids(rowsets)),
            planned.get("task").asText(),
            rowsets.toString(),
            HadoopSettings.ofTasks(table.path())));
  }

  /** Returns those of some RowSets that have rows to change. */
  private JsonNode met(long epoch, JsonNode rowsets) {
    if (values.isOfAllRows() || rowsets.isEmpty()) {
      return rowsets;
    }
    Set<Long> found = values.findRowSets(table.ofRowSets(epoch, ids(rowsets)));
    ArrayNode kept = JsonNodeFactory.instance.arrayNode();
    rowsets.forEach(
        each -> {
          if (found.contains(each.get("id").longValue())) {
            kept.add(each);
          }
        });
    return kept;
  }

  private static List<Long> ids(JsonNode rowsets) {
    List<Long> ids = new ArrayList<>();
    rowsets.forEach(each -> ids.add(each.get("id").longValue()));
    return ids;
  }
}
