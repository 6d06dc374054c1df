package colonnade.source;

import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;

/** Columns as Spark refers to them, whatever characters are in their names. */
final class ColumnName {
  private ColumnName() {}

  static NamedReference reference(String name) {
    return Expressions.column("`" + name.replace("`", "``") + "`");
  }
}
