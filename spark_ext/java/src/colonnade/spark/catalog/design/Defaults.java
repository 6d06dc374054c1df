package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses.Default;
import colonnade.spark.quirks.tables.FoldedDefault;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.table.ExpressionTree;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.ColumnDefaultValue;
import org.apache.spark.sql.connector.catalog.DefaultValue;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.types.DataType;

/** Defaults of columns in the planner's terms: SQL text, and the value that it has now. */
public final class Defaults {
  private Defaults() {}

  /** Returns the default that ADD COLUMN declares, or null. Spark states the value that it has. */
  public static Default of(ColumnDefaultValue declared, String column, DataType type) {
    if (declared == null) {
      return null;
    }
    refuseLoss(column, type, declared);
    return of(declared, declared.getValue());
  }

  /**
   * Returns the defaults of the columns that have one, by name. They are evaluated here, because the
   * columns may be those of a table, which state no value.
   */
  public static Map<String, Default> of(Column[] columns) {
    Map<String, Default> found = new HashMap<>();
    for (Column column : columns) {
      if (column.defaultValue() != null) {
        DefaultValue given = column.defaultValue();
        refuseLoss(column.name(), column.dataType(), given);
        found.put(
            column.name(), of(given, FoldedDefault.now(column.name(), column.dataType(), given)));
      }
    }
    return found;
  }

  /** Returns the default that SET DEFAULT gives to a column of a table. */
  public static Default of(DefaultValue given, String path, String... column) {
    if (column.length == 1) {
      for (Column each : ColonnadeTable.load(path, Map.of()).columns()) {
        if (each.name().equalsIgnoreCase(column[0])) {
          refuseLoss(each.name(), each.dataType(), given);
          return of(given, FoldedDefault.now(each.name(), each.dataType(), given));
        }
      }
    }
    return of(given, (Literal<?>) null); // the planner refuses it
  }

  private static void refuseLoss(String column, DataType type, DefaultValue given) {
    if (FoldedDefault.losesDigits(column, type, given)) {
      throw ColonnadeException.invalid(
          "Column '%s' is %s and cannot have the default %s, which has more digits; round it, or"
              + " choose another type.",
          column, type.sql(), given.getSql());
    }
  }

  private static Default of(DefaultValue given, Literal<?> now) {
    String sql = given.getSql() == null ? String.valueOf(now) : given.getSql();
    return new Default(sql, now == null ? null : ExpressionTree.of(now));
  }
}
