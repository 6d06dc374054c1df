package colonnade.spark.quirks.tables;

import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns$;
import org.apache.spark.sql.connector.catalog.DefaultValue;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.LiteralValue;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;

/**
 * The value that a default has now. Spark does not state it when {@code SET DEFAULT} changes one.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ResolveDefaultColumns.analyze}, which Spark calls to fill
 * rows.
 */
public final class FoldedDefault {
  private static final String WHERE = "ALTER TABLE";

  /** The digits of the longest BIGINT. */
  private static final int LONG_DIGITS = 19;

  private FoldedDefault() {}

  /**
   * Whether a number would lose digits as the default of a column, such as 1.5 of an INT. Spark
   * would cut them off.
   */
  public static boolean losesDigits(String column, DataType type, DefaultValue given) {
    int scale = type instanceof DecimalType decimal ? decimal.scale() : 0;
    int whole = type instanceof DecimalType decimal ? decimal.precision() - scale : LONG_DIGITS;
    boolean isExact = type instanceof DecimalType || type instanceof IntegralType;
    if (!isExact || given.getSql() == null) {
      return false;
    }
    DataType finer = new DecimalType(DecimalType.MAX_PRECISION(), DecimalType.MAX_PRECISION() - whole);
    try {
      // The expression of a default may be of the type of the column already.
      Object value =
          ResolveDefaultColumns$.MODULE$.analyze(column, finer, given.getSql(), WHERE).eval(null);
      return value instanceof Decimal number
          && number.toJavaBigDecimal().movePointRight(scale).stripTrailingZeros().scale() > 0;
    } catch (Exception error) {
      if (error instanceof AnalysisException) {
        return false; // no number: Spark decides whether the column takes it
      }
      throw error;
    }
  }

  /** Evaluates a default of a column. Throws Spark's error if it is not a constant of the type. */
  public static Literal<?> now(String column, DataType type, DefaultValue given) {
    Object value =
        ResolveDefaultColumns$.MODULE$.analyze(column, type, given, WHERE).eval(null);
    return new LiteralValue<>(value, type);
  }
}
