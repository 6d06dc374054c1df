package colonnade.spark.quirks.tables;

import colonnade.spark.table.TableAtEpoch;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;

/**
 * A row of a table that contradicts a new constraint.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataSourceV2Relation}.
 */
public final class ContradictingRow {
  /** The most characters of a value that an error shows. */
  private static final int SHOWN = 40;

  private ContradictingRow() {}

  /**
   * Returns the values, such as {@code a = 1, b = NULL}, of one row of the table at its epoch that
   * makes the condition FALSE; empty if there is no such row. Runs a query, which ends at the first
   * such row. The values are those of {@code columns}, which the condition reads.
   */
  public static Optional<String> find(
      TableAtEpoch table, String condition, Collection<String> columns) {
    LogicalPlan rows = DataSourceV2Relation.create(table, Option.empty(), Option.empty());
    List<String> names = List.copyOf(columns);
    String[] texts =
        names.stream()
            .map(name -> "CAST(" + QuotingUtils.quoteIdentifier(name) + " AS STRING)")
            .toArray(String[]::new);
    List<Row> found =
        Dataset.ofRows(SparkSession.active(), rows)
            .where("NOT (" + condition + ")")
            .selectExpr(texts)
            .takeAsList(1);
    return found.stream().findFirst().map(row -> values(names, row));
  }

  private static String values(List<String> names, Row row) {
    return IntStream.range(0, names.size())
        .mapToObj(at -> names.get(at) + " = " + shown(row.getString(at)))
        .collect(Collectors.joining(", "));
  }

  private static String shown(String value) {
    if (value == null) {
      return "NULL";
    }
    return value.length() <= SHOWN ? value : value.substring(0, SHOWN - 1) + "…";
  }
}
