package colonnade.spark.table;

import colonnade.planner.messages.Clauses.Constraint;
import colonnade.planner.messages.Clauses.UserColumns;
import colonnade.planner.messages.Queries.LoadedTable;
import colonnade.planner.messages.Views.AgreedTime;
import colonnade.planner.messages.Views.NamedView;
import colonnade.planner.messages.Views.RowsToWrite;
import java.util.List;
import java.util.Map;

/**
 * A table that the planner has loaded, in the form in which one use of it needs it.
 *
 * @param loaded what the planner says of it
 * @param callable whether the table's catalog knows the partition transforms as functions
 * @param deletedFrom whether this is the target of a DELETE
 * @param catalogProperties the properties that only the table's catalog knows
 * @param userColumns what the planner says of the columns that a user gave the rows of an append;
 *     null if that is all columns, or if the rows do not merge by their keys
 */
public record TableForm(
    LoadedTable loaded,
    boolean callable,
    boolean deletedFrom,
    Map<String, String> catalogProperties,
    UserColumns userColumns) {
  public static TableForm of(LoadedTable loaded) {
    return new TableForm(loaded, true, false, Map.of(), null);
  }

  NamedView view() {
    return loaded.view();
  }

  /** For a catalog that does not know the partition transforms as functions. */
  public TableForm withoutFunctions() {
    return new TableForm(loaded, false, deletedFrom, catalogProperties, userColumns);
  }

  /** With one property that only the catalog knows. */
  public TableForm with(String property, String value) {
    return new TableForm(loaded, callable, deletedFrom, Map.of(property, value), userColumns);
  }

  /** As the target of a DELETE. */
  public TableForm toDeleteFrom() {
    return new TableForm(loaded, callable, true, catalogProperties, userColumns);
  }

  /** With these columns, which the table lacks and gets in the epoch of the rows. */
  public TableForm forRows(RowsToWrite rows, String columns) {
    NamedView of = view();
    NamedView view =
        new NamedView(
            of.url(), of.options(), of.database(), of.table(), of.epoch(), of.schemaEpoch(),
            of.now(), of.agreed(), of.valuesAt(), rows, of.rowsets(), of.whole());
    return with(view, loaded.pinned(), columns, loaded.constraints());
  }

  /** For rows that have only some columns; Spark checks no constraints of merged rows. */
  public TableForm forUserColumns(UserColumns columns, String schema) {
    List<Constraint> checked = columns.checked() ? loaded.constraints() : List.of();
    TableForm other = with(view(), loaded.pinned(), schema, checked);
    return new TableForm(other.loaded, callable, deletedFrom, catalogProperties, columns);
  }

  /** With all rows that are stored, and without the values that have expired for a statement. */
  public TableForm asStored() {
    AgreedTime agreed = view().agreed();
    return at(null, agreed == null ? null : agreed.earliestMs());
  }

  /** At the time by which a statement decides what has expired. */
  public TableForm decided() {
    AgreedTime agreed = view().agreed();
    return agreed == null ? this : at(agreed.earliestMs(), view().valuesAt());
  }

  private TableForm at(Long now, Long valuesAt) {
    NamedView of = view();
    NamedView view =
        new NamedView(
            of.url(), of.options(), of.database(), of.table(), of.epoch(), of.schemaEpoch(), now,
            of.agreed(), valuesAt, of.evolving(), of.rowsets(), of.whole());
    return with(view, loaded.pinned(), loaded.columns(), loaded.constraints());
  }

  /**
   * With some of its RowSets at an epoch alone.
   *
   * @param whole the number of tasks, where each reads whole RowSets; null where it need not
   */
  public TableForm ofRowSets(long epoch, List<Long> rowsets, Long whole) {
    NamedView of = view();
    NamedView view =
        new NamedView(
            of.url(), of.options(), of.database(), of.table(), epoch, of.schemaEpoch(), of.now(),
            of.agreed(), of.valuesAt(), of.evolving(), rowsets, whole);
    return with(view, true, loaded.columns(), loaded.constraints());
  }

  private TableForm with(
      NamedView view, boolean pinned, String columns, List<Constraint> constraints) {
    LoadedTable other =
        new LoadedTable(
            loaded.path(), loaded.name(), view, loaded.seenAt(), pinned, columns, loaded.defaults(),
            loaded.identities(), loaded.generated(), loaded.statics(),
            loaded.partitionKey(), loaded.properties(), loaded.comment(), loaded.sortKey(),
            loaded.partitioning(), constraints);
    return new TableForm(other, callable, deletedFrom, catalogProperties, userColumns);
  }
}
