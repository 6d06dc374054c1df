package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.spark.quirks.AssignedColumns;
import colonnade.spark.quirks.MergeJoin;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;

/**
 * A statement that changes rows, as its commit needs it.
 *
 * @param table the table to change
 * @param kind delete, update or merge
 * @param read the filters of the statement's scan; null if they are not known
 * @param replaced the columns that tasks have replaced, as the planner takes them; null for none
 */
public record RowChange(
    ColonnadeTable table,
    String kind,
    Supplier<List<Map<String, Object>>> read,
    Map<String, Object> replaced) {

  RowChange(ColonnadeTable table, String kind, Supplier<List<Map<String, Object>>> read) {
    this(table, kind, read, null);
  }

  RowChange with(Map<String, Object> columns) {
    return new RowChange(table, kind, read, columns);
  }

  /**
   * Refuses an UPDATE or MERGE that sets an identity column whose values only the table gives. Spark
   * must have begun to run the statement.
   */
  void requireKeptIdentities() {
    for (Column column : kind.equals("delete") ? new Column[0] : table.columns()) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      boolean always = stated != null && !stated.isAllowExplicitInsert();
      if (always && AssignedColumns.mayHave(column.name())) {
        String sentence =
            String.format(
                "Column '%s' of table %s is GENERATED ALWAYS AS IDENTITY and cannot be set; name"
                    + " the other columns in SET.",
                column.name(), table.path());
        throw ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
      }
    }
  }

  List<Map<String, Object>> filters() {
    return read.get();
  }

  /** Returns the columns that a MERGE compares with existing rows; null for another statement. */
  List<String> keys() {
    return kind.equals("merge") ? MergeJoin.running(table).orElse(null) : null;
  }
}
