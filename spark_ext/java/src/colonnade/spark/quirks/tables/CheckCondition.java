package colonnade.spark.quirks.tables;

import java.util.List;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * The condition of a constraint. It must give a row the same result at every time.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CURRENT_LIKE}.
 */
public final class CheckCondition {
  private final String sql;
  private final StructType schema;

  /** Makes the condition of a table with the columns {@code schema}, as declared. */
  public CheckCondition(String sql, StructType schema) {
    this.sql = sql;
    this.schema = schema;
  }

  /** Whether it also depends on who asks, when and where. Throws Spark's error if it is invalid. */
  public boolean isOfSession() {
    StructType columns = CharVarcharUtils.replaceCharVarcharWithStringInSchema(schema);
    return SparkSession.active()
        .createDataFrame(List.of(), columns)
        .where(sql)
        .queryExecution()
        .analyzed()
        .containsPattern(TreePattern.CURRENT_LIKE());
  }
}
