package colonnade.spark.quirks;

import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns$;
import org.apache.spark.sql.connector.catalog.DefaultValue;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.LiteralValue;
import org.apache.spark.sql.types.DataType;

/**
 * The value that a default has now. Spark does not state it when {@code SET DEFAULT} changes one.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ResolveDefaultColumns.analyze}, which Spark calls to fill
 * rows.
 */
public final class FoldedDefault {
  private FoldedDefault() {}

  /** Evaluates a default of a column. Throws Spark's error if it is not a constant of the type. */
  public static Literal<?> now(String column, DataType type, DefaultValue given) {
    Object value =
        ResolveDefaultColumns$.MODULE$.analyze(column, type, given, "ALTER TABLE").eval(null);
    return new LiteralValue<>(value, type);
  }
}
