package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.quirks.statement.RunningStatement;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.sink.ColonnadeWriteBuilder;
import colonnade.spark.sink.PlannedWrite;
import colonnade.spark.sink.WriteRequest;
import colonnade.spark.table.GeneratedColumn;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A table whose rows {@code df.write.mode("overwrite").saveAsTable(name)} replaces. Spark asks for
 * CREATE OR REPLACE TABLE, but the table keeps its columns, layout and properties, as it does with
 * {@code save(path)}.
 */
final class StagedOverwrite implements StagedTable, SupportsWrite, GeneratedColumn.Owner {
  private final ColonnadeTable table;
  private final StructType columns;
  private final Transform[] layout;
  private PlannedWrite planned;
  private WriterCommitMessage[] messages;

  private StagedOverwrite(ColonnadeTable table, StructType columns, Transform... layout) {
    this.table = table;
    this.columns = columns;
    this.layout = layout;
  }

  /**
   * Returns the table to stage for CREATE OR REPLACE TABLE at {@code path}, which may have a table.
   */
  static StagedTable orReplacement(String path, TableInfo info) {
    TableDesign design = TableDesign.of(info);
    if (!Caller.isFrameWriter() || !Tables.exists(path)) {
      return new StagedColonnadeTable(path, design, true);
    }
    ColonnadeTable table = ColonnadeTable.load(path, Map.of());
    StructType rows = design.schema();
    if (takesAnyColumns()) {
      return new StagedOverwrite(table, rows, info.partitions());
    }
    if (!Tables.isLaidOut(table, info.partitions())) {
      throw refusal(table, "is partitioned or clustered otherwise");
    }
    return new StagedOverwrite(table, columns(table, rows));
  }

  /** Whether the write may replace the columns. Spark does not pass on its options this early. */
  private static boolean takesAnyColumns() {
    return RunningStatement.replacementOptions()
        .map(options -> options.getBoolean(ColonnadeTable.OVERWRITE_SCHEMA, false))
        .orElse(false);
  }

  /**
   * Returns the table's columns in the order of the rows, because Spark matches them by position
   * here. Rows may leave out identity columns.
   */
  private static StructType columns(ColonnadeTable table, StructType rows) {
    Map<String, StructField> missing = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (StructField field : table.schema().fields()) {
      missing.put(field.name(), field);
    }
    StructType columns = new StructType();
    for (StructField row : rows.fields()) {
      StructField field = missing.remove(row.name());
      if (field == null) {
        throw refusal(table, "has no column " + row.name());
      }
      columns = columns.add(field);
    }
    for (Column column : table.columns()) {
      if (column.identityColumnSpec() != null) {
        missing.remove(column.name());
      }
    }
    if (!missing.isEmpty()) {
      String lacking = missing.keySet().iterator().next();
      throw refusal(table, "has a column " + lacking + " that the rows lack");
    }
    return columns;
  }

  private static RuntimeException refusal(ColonnadeTable table, String reason) {
    return ColonnadeException.invalid(
        "Table %s %s, and an overwrite keeps columns and layout of a table; set the option"
            + " overwriteSchema to true, or use df.writeTo(name).createOrReplace() to replace"
            + " the table.",
        table.path(), reason);
  }

  @Override
  public String name() {
    return table.path();
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return columns;
  }

  @Override
  public String tableName() {
    return table.tableName();
  }

  @Override
  public StructType declared() {
    return columns;
  }

  /** Spark appends the rows in a statement of its own, which computes those that the rows have. */
  @Override
  public List<GeneratedColumn> generated() {
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(List.of(columns.fieldNames()));
    return table.generated().stream()
        .filter(each -> known.contains(each.column()) && known.containsAll(each.reads()))
        .toList();
  }

  /** Spark appends the rows in a statement of its own, which checks them. */
  @Override
  public Constraint[] constraints() {
    return table.constraints();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return table.capabilities();
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteRequest request = ColonnadeWriteBuilder.request(table.path(), info).basedOn(table);
    return ColonnadeWriteBuilder.ofFrame(
        table,
        request.laidOut(TableDesign.layout(layout)),
        (written, reports) -> {
          planned = written;
          messages = reports;
        });
  }

  @Override
  public void commitStagedChanges() {
    planned.commit(messages);
  }

  /** Deletes nothing, as after any failed write, because a commit may have been attempted. */
  @Override
  public void abortStagedChanges() {}
}
