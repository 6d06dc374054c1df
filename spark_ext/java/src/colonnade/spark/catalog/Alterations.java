package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Catalog.AlterTable;
import colonnade.planner.messages.Changes;
import colonnade.planner.messages.Changes.Change;
import colonnade.planner.messages.Clauses.Constraint;
import colonnade.spark.catalog.design.Constraints;
import colonnade.spark.catalog.design.Defaults;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.sink.ColonnadeTable;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.DefaultValue;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;

/** Translates the changes of an ALTER TABLE into the planner's terms, one by one. */
final class Alterations {
  private Alterations() {}

  /**
   * Alters a table in one epoch, and returns the altered table. A statement WITH SCHEMA EVOLUTION
   * does so with its rows.
   */
  static ColonnadeTable carryOut(String path, TableChange... changes) {
    if (Caller.isSchemaEvolution()) {
      return EvolvedTable.of(path, of(path, changes));
    }
    Planner.call(new AlterTable(path, of(path, changes)));
    ColonnadeTable altered = ColonnadeTable.load(path, Map.of());
    CachedReads.refresh(altered.path());
    return altered;
  }

  private static List<Change> of(String path, TableChange... changes) {
    return Arrays.stream(changes).map(change -> of(path, change)).toList();
  }

  private static Change of(String path, TableChange change) {
    if (change instanceof TableChange.ColumnChange column) {
      return ofColumn(path, column, List.of(column.fieldNames()));
    }
    if (change instanceof TableChange.SetProperty set) {
      return property(set.property(), set.value());
    }
    if (change instanceof TableChange.RemoveProperty remove) {
      return property(remove.property(), null);
    }
    if (change instanceof TableChange.ClusterBy cluster) {
      return new Changes.ClusterBy(
          Arrays.stream(cluster.clusteringColumns())
              .map(column -> List.of(column.fieldNames()))
              .toList());
    }
    if (change instanceof TableChange.AddConstraint add) {
      return ofConstraint(ColonnadeTable.load(path, Map.of()), add);
    }
    if (change instanceof TableChange.DropConstraint drop) {
      return new Changes.DropConstraint(drop.name(), drop.ifExists());
    }
    throw unsupported(change);
  }

  /** Says at which epoch all rows meet the constraint. */
  private static Change ofConstraint(ColonnadeTable table, TableChange.AddConstraint change) {
    Constraint stated = Constraints.of(change.constraint(), table.schema());
    String validated = change.validatedTableVersion();
    long epoch =
        validated == null
            ? Constraints.checked(table, change.constraint())
            : Long.parseLong(validated);
    return new Changes.AddConstraint(
        stated.name(), stated.condition(), stated.columns(), epoch);
  }

  private static Change property(String name, String value) {
    if (name.equals(TableCatalog.PROP_COMMENT)) {
      return new Changes.CommentTable(value);
    }
    if (name.equals(TableCatalog.PROP_LOCATION)) {
      throw ColonnadeException.invalid(
          "The location of a table cannot be changed: it is where the table's files are.");
    }
    return value == null
        ? new Changes.SetProperties(Map.of(), List.of(name))
        : new Changes.SetProperties(Map.of(name, value), List.of());
  }

  private static Change ofColumn(
      String path, TableChange.ColumnChange change, List<String> column) {
    if (change instanceof TableChange.AddColumn add) {
      return added(add, column);
    }
    if (change instanceof TableChange.RenameColumn rename) {
      return new Changes.RenameColumn(column, rename.newName());
    }
    if (change instanceof TableChange.DeleteColumn delete) {
      return new Changes.DropColumn(column, delete.ifExists());
    }
    if (change instanceof TableChange.UpdateColumnComment comment) {
      return new Changes.CommentColumn(column, comment.newComment());
    }
    if (change instanceof TableChange.UpdateColumnNullability update) {
      return new Changes.SetNullable(column, update.nullable());
    }
    if (change instanceof TableChange.UpdateColumnPosition move) {
      return new Changes.MoveColumn(column, after(move.position()), isFirst(move.position()));
    }
    if (change instanceof TableChange.UpdateColumnType update) {
      return new Changes.WidenColumn(column, update.newDataType().json());
    }
    if (change instanceof TableChange.UpdateColumnDefaultValue update) {
      DefaultValue given = update.newCurrentDefault();
      return new Changes.SetDefault(
          column, given == null ? null : Defaults.of(given, path, change.fieldNames()));
    }
    throw unsupported(change);
  }

  private static Change added(TableChange.AddColumn change, List<String> column) {
    return new Changes.AddColumn(
        column,
        change.dataType().json(),
        change.isNullable(),
        change.comment(),
        Defaults.of(change.defaultValue(), String.join(".", column), change.dataType()),
        after(change.position()),
        isFirst(change.position()));
  }

  private static boolean isFirst(TableChange.ColumnPosition position) {
    return position instanceof TableChange.First;
  }

  private static String after(TableChange.ColumnPosition position) {
    return position instanceof TableChange.After after ? after.column() : null;
  }

  private static RuntimeException unsupported(TableChange change) {
    return ColonnadeException.invalid(
        "Colonnade tables have no support for " + change.getClass().getSimpleName() + ".");
  }
}
