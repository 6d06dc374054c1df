package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.spark.scan.ColonnadeScanBuilder;
import colonnade.spark.table.ColumnName;
import colonnade.spark.table.RowColumn;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.SupportsDelta;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A DELETE, UPDATE or MERGE of a table at one epoch. Rows are named by their handlers, so a DELETE
 * reads only the columns of its condition.
 */
public final class RowOperation implements SupportsDelta {
  private final ColonnadeTable table;
  private final Command command;
  private final Function<StructType, DeltaWriteBuilder> builder;
  private final List<ColonnadeScanBuilder> scans = new ArrayList<>();

  public RowOperation(ColonnadeTable table, RowLevelOperationInfo info) {
    this.table = table;
    command = info.command();
    builder = rows -> newBuilder(rows, info.options());
  }

  private RowOperation(ColonnadeTable table, Command command, DeltaWrite write) {
    this.table = table;
    this.command = command;
    builder = rows -> builderOf(() -> write);
  }

  /** Returns the part of a statement that reads {@code table}; its write is planned already. */
  static RowOperation planned(ColonnadeTable table, PlannedWrite planned, RowChange change) {
    Command command = Command.valueOf(change.kind().toUpperCase(Locale.ROOT));
    return new RowOperation(table, command, new RowChangeWrite(planned, change));
  }

  @Override
  public Command command() {
    return command;
  }

  @Override
  public String description() {
    return "colonnade";
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    // Spark would read the table a second time only to find filters.
    ColonnadeScanBuilder scan = new ColonnadeScanBuilder(table, false);
    scans.add(scan);
    return scan;
  }

  @Override
  public NamedReference[] rowId() {
    return new NamedReference[] {ColumnName.reference(RowColumn.HANDLER)};
  }

  @Override
  public DeltaWriteBuilder newWriteBuilder(LogicalWriteInfo rows) {
    return builder.apply(rows.schema());
  }

  private DeltaWriteBuilder newBuilder(StructType rows, CaseInsensitiveStringMap options) {
    String kind = command.name().toLowerCase(Locale.ROOT);
    RowChange change = new RowChange(table, kind, this::filters);
    StructType own = RowColumn.without(rows, table.schema());
    if (command == Command.MERGE && !own.equals(rows)) {
      // Spark fails at such rows: at an insertion for want of values, at an update in its tasks.
      throw ColonnadeException.invalid(
          "A MERGE cannot name the columns " + offered() + " that Colonnade offers beside those of"
              + " the table; name columns of the table itself, or use UPDATE or DELETE.");
    }
    WriteRequest request = request(own, options.asCaseSensitiveMap());
    return builderOf(() -> new RowChangeWrite(request.plan(), change));
  }

  private WriteRequest request(StructType written, Map<String, String> options) {
    // A statement that only deletes writes no columns.
    WriteRequest request =
        written.isEmpty()
            ? WriteRequest.withoutRows(table.path(), table.schema(), options)
            : WriteRequest.append(table.path(), written, options);
    return request.basedOn(table);
  }

  private static DeltaWriteBuilder builderOf(Supplier<DeltaWrite> write) {
    return new DeltaWriteBuilder() {
      @Override
      public DeltaWrite build() {
        return write.get();
      }
    };
  }

  private String offered() {
    return RowColumn.beside(table.schema()).stream()
        .map(RowColumn::name)
        .collect(Collectors.joining(", "));
  }

  /**
   * Returns the filters of the statement's only scan of the table; null if it has no scan or
   * several.
   */
  private List<Tree> filters() {
    return scans.size() == 1 ? scans.get(0).filters() : null;
  }
}
