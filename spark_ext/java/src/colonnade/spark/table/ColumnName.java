package colonnade.spark.table;

import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;

/** Columns as Spark refers to them, whatever characters are in their names. */
public final class ColumnName {
  private ColumnName() {}

  /** The column called {@code name}. */
  public static NamedReference reference(String name) {
    return Expressions.column(quoted(name));
  }

  /** The name as an expression that Spark parses. */
  static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }
}
