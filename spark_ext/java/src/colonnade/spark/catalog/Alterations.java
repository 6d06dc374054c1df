package colonnade.spark.catalog;

import colonnade.planner.Planner;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.quirks.statement.Caller;
import colonnade.spark.sink.ColonnadeTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
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
    Planner.callOnce("alter_table", Map.of("path", path, "changes", of(path, changes)));
    ColonnadeTable altered = ColonnadeTable.load(path, Map.of());
    CachedReads.refresh(altered.path());
    return altered;
  }

  private static List<Map<String, Object>> of(String path, TableChange... changes) {
    return Arrays.stream(changes).map(change -> of(path, change)).toList();
  }

  private static Map<String, Object> of(String path, TableChange change) {
    if (change instanceof TableChange.ColumnChange column) {
      return ofColumn(path, column);
    }
    if (change instanceof TableChange.SetProperty set) {
      return property(set.property(), set.value());
    }
    if (change instanceof TableChange.RemoveProperty remove) {
      return property(remove.property(), null);
    }
    if (change instanceof TableChange.ClusterBy cluster) {
      List<List<String>> columns =
          Arrays.stream(cluster.clusteringColumns())
              .map(column -> List.of(column.fieldNames()))
              .toList();
      return alteration("cluster_by", "columns", columns);
    }
    if (change instanceof TableChange.AddConstraint add) {
      return ofConstraint(ColonnadeTable.load(path, Map.of()), add);
    }
    if (change instanceof TableChange.DropConstraint drop) {
      return alteration("drop_constraint", "name", drop.name(), "if_exists", drop.ifExists());
    }
    return alteration("other", "what", "support for " + change.getClass().getSimpleName());
  }

  /** Says at which epoch all rows meet the constraint. */
  private static Map<String, Object> ofConstraint(
      ColonnadeTable table, TableChange.AddConstraint change) {
    Map<String, Object> found = alteration("add_constraint");
    found.putAll(Constraints.of(change.constraint(), table.schema()));
    String epoch = change.validatedTableVersion();
    found.put("epoch", epoch == null ? Constraints.checked(table, change.constraint()) : epoch);
    return found;
  }

  private static Map<String, Object> property(String name, String value) {
    if (name.equals(TableCatalog.PROP_COMMENT)) {
      return alteration("comment", "comment", value);
    }
    if (name.equals(TableCatalog.PROP_LOCATION)) {
      return alteration("location");
    }
    Map<String, String> set = value == null ? Map.of() : Map.of(name, value);
    List<String> remove = value == null ? List.of(name) : List.of();
    return alteration("properties", "set", set, "remove", remove);
  }

  private static Map<String, Object> ofColumn(String path, TableChange.ColumnChange change) {
    Map<String, Object> found =
        change instanceof TableChange.UpdateColumnDefaultValue update
            ? defaultAlteration(path, update)
            : columnAlteration(change);
    found.put("column", new ArrayList<>(List.of(change.fieldNames())));
    return found;
  }

  private static Map<String, Object> columnAlteration(TableChange.ColumnChange change) {
    if (change instanceof TableChange.AddColumn add) {
      Map<String, Object> found = placed("add_column", add.position());
      found.put("type", add.dataType().json());
      found.put("nullable", add.isNullable());
      found.put("comment", add.comment());
      found.put(
          "default",
          Defaults.of(
              add.defaultValue(), String.join(".", add.fieldNames()), add.dataType()));
      return found;
    }
    if (change instanceof TableChange.RenameColumn rename) {
      return alteration("rename_column", "name", rename.newName());
    }
    if (change instanceof TableChange.DeleteColumn delete) {
      return alteration("drop_column", "if_exists", delete.ifExists());
    }
    if (change instanceof TableChange.UpdateColumnComment comment) {
      return alteration("comment_column", "comment", comment.newComment());
    }
    if (change instanceof TableChange.UpdateColumnNullability update) {
      return alteration(update.nullable() ? "drop_not_null" : "set_not_null");
    }
    if (change instanceof TableChange.UpdateColumnPosition move) {
      return placed("move_column", move.position());
    }
    if (change instanceof TableChange.UpdateColumnType update) {
      return alteration("widen_column", "type", update.newDataType().json());
    }
    return alteration("other", "what", "support for " + change.getClass().getSimpleName());
  }

  private static Map<String, Object> defaultAlteration(
      String path, TableChange.UpdateColumnDefaultValue change) {
    DefaultValue given = change.newCurrentDefault();
    return given == null
        ? alteration("drop_default")
        : alteration("set_default", "default", Defaults.of(given, path, change.fieldNames()));
  }

  private static Map<String, Object> placed(String kind, TableChange.ColumnPosition position) {
    Map<String, Object> found = alteration(kind, "after", null);
    found.put("first", position instanceof TableChange.First);
    if (position instanceof TableChange.After after) {
      found.put("after", after.column());
    }
    return found;
  }

  private static Map<String, Object> alteration(String kind, Object... more) {
    Map<String, Object> found = new HashMap<>();
    found.put("kind", kind);
    for (int at = 0; at < more.length; at += 2) {
      found.put((String) more[at], more[at + 1]);
    }
    return found;
  }
}
