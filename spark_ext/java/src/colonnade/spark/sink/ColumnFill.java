package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.HadoopSettings;
import colonnade.planner.Planner;
import colonnade.planner.messages.Rewrites.AskedRowSet;
import colonnade.planner.messages.Rewrites.CommitFill;
import colonnade.planner.messages.Rewrites.FillRound;
import colonnade.planner.messages.Rewrites.Filled;
import colonnade.planner.messages.Rewrites.PlanFill;
import colonnade.planner.messages.Rewrites.PlannedFill;
import colonnade.spark.quirks.expressions.ColumnValues;
import colonnade.spark.quirks.rules.SparkRules;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
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
  private final List<String> liveRowsets = new ArrayList<>();
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
    return fill.run(name, column.json(), null);
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
        return fill.run(field.name(), null, condition);
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

  private JsonNode run(String name, String added, String condition) {
    PlannedFill planned =
        Planner.call(
            new PlanFill(
                table.path(), table.view(), name, values.reads(table), added, condition));
    FillRound missing = planned.first();
    for (int round = 0; round < ROUNDS; round++) {
      write(planned.task(), missing);
      Filled done =
          Planner.call(
              new CommitFill(planned.fill(), table.view().database(), liveRowsets, reports));
      if (done.next() == null) {
        return done.rows();
      }
      missing = done.next();
    }
    throw ColonnadeException.unchecked(
        "COLONNADE_CONFLICT",
        "Other writers added rows to table " + table.path() + " faster than column '" + name
            + "' was computed for them, " + ROUNDS + " times in a row; nothing was changed, run it"
            + " again.");
  }

  /** Writes the values of the RowSets of a round, at its epoch. */
  private void write(String task, FillRound missing) {
    long epoch = missing.epoch();
    liveRowsets.addAll(missing.liveRowsets());
    List<AskedRowSet> rowsets = met(epoch, missing.rowsets());
    if (rowsets.isEmpty()) {
      return;
    }
    reports.addAll(
        values.write(
            table.ofWholeRowSets(epoch, ids(rowsets)),
            task,
            tasks(rowsets),
            HadoopSettings.ofTasks(table.path())));
  }

  /** Returns those of some RowSets that have rows to change. */
  private List<AskedRowSet> met(long epoch, List<AskedRowSet> rowsets) {
    if (values.isOfAllRows() || rowsets.isEmpty()) {
      return rowsets;
    }
    Set<Long> found = values.findRowSets(table.ofRowSets(epoch, ids(rowsets)));
    return rowsets.stream().filter(each -> found.contains(each.id())).toList();
  }

  private static List<Long> ids(List<AskedRowSet> rowsets) {
    return rowsets.stream().map(AskedRowSet::id).toList();
  }

  /** Returns what tasks need of RowSets, as one JSON list. */
  static String tasks(List<AskedRowSet> rowsets) {
    return rowsets.stream().map(AskedRowSet::task).collect(Collectors.joining(",", "[", "]"));
  }
}
