package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses.HistoryText;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.planner.messages.Writes.ReplacedColumns;
import colonnade.spark.quirks.changes.AssignedColumns;
import colonnade.spark.quirks.changes.HistoryTexts;
import colonnade.spark.quirks.changes.MergeJoin;
import colonnade.spark.quirks.changes.NamedColumns;
import colonnade.spark.table.RowColumn;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;

/**
 * A statement that changes rows, as its commit needs it.
 *
 * @param table the table to change
 * @param kind delete, update or merge
 * @param read the filters of the statement's scan; null if they are not known
 * @param compared the columns that a MERGE compares with existing rows; null for another statement
 * @param history what the statement says, for the history
 * @param replaced the columns that tasks have replaced; null for none
 */
public record RowChange(
    ColonnadeTable table,
    String kind,
    Supplier<List<Tree>> read,
    Supplier<List<String>> compared,
    Supplier<HistoryText> history,
    ReplacedColumns replaced) {

  RowChange(ColonnadeTable table, String kind, Supplier<List<Tree>> read) {
    this(table, kind, read, compared(table, kind), HistoryTexts::running, null);
  }

  private static Supplier<List<String>> compared(ColonnadeTable table, String kind) {
    return () -> kind.equals("merge") ? MergeJoin.running(table).orElse(null) : null;
  }

  /** Returns this statement with replaced columns. Spark must have begun to run the statement. */
  RowChange with(ReplacedColumns columns) {
    List<String> keys = keys(); // other plans do parts of it
    HistoryText said = history.get();
    return new RowChange(table, kind, read, () -> keys, () -> said, columns);
  }

  /**
   * Refuses an UPDATE or MERGE that sets what only the table gives: the values of an identity
   * column, or those of a column beside the table's own. Spark must have begun to run the statement.
   */
  void requireSettable() {
    requireKeptIdentities();
    requireOwnStatics();
    if (kind.equals("update")) {
      NamedColumns.running().forEach(this::requireOwn);
    }
  }

  private void requireOwn(List<String> name) {
    String last = name.get(name.size() - 1);
    boolean isField = name.size() > 1 && isColumn(name.get(name.size() - 2));
    boolean isOffered =
        RowColumn.beside(table.schema()).stream().anyMatch(each -> each.isCalled(last));
    if (isOffered && !isField) {
      throw ColonnadeException.invalid(
          "UPDATE cannot set '%s' of table %s, which says where a row is stored; name columns of"
              + " the table in SET.",
          last, table.path());
    }
  }

  private boolean isColumn(String name) {
    return Stream.of(table.schema().fieldNames()).anyMatch(name::equalsIgnoreCase);
  }

  private void requireKeptIdentities() {
    for (Column column : kind.equals("delete") ? new Column[0] : table.columns()) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      boolean always = stated != null && !stated.isAllowExplicitInsert();
      if (always && AssignedColumns.mayHave(column.name())) {
        throw ColonnadeException.invalid(
            "Column '%s' of table %s is GENERATED ALWAYS AS IDENTITY and cannot be set; name"
                + " the other columns in SET.",
            column.name(), table.path());
      }
    }
  }

  /** Returns the static columns that an UPDATE sets. Spark must have begun to run the statement. */
  List<String> setStatics() {
    return kind.equals("update")
        ? table.statics().stream().filter(AssignedColumns::mayHave).toList()
        : List.of();
  }

  /** Whether no other column is set. Spark must have begun to run the statement. */
  boolean setsOnly(List<String> columns) {
    return Stream.of(table.schema().fieldNames())
        .filter(name -> !columns.contains(name))
        .noneMatch(AssignedColumns::mayHave);
  }

  /**
   * Refuses a MERGE that sets static columns: several of its clauses may set them, in rows of one
   * partition key. Refuses an UPDATE that moves rows to another key beside that.
   */
  private void requireOwnStatics() {
    List<String> set =
        kind.equals("delete")
            ? List.of()
            : table.statics().stream().filter(AssignedColumns::mayHave).toList();
    if (set.isEmpty()) {
      return;
    }
    if (kind.equals("merge")) {
      throw invalid(
          "MERGE cannot set static column '%s' of table %s; set it by UPDATE, or by an upsert of"
              + " colonnade.open(path) in Python.",
          set.get(0), table.path());
    }
    for (String key : table.partitionKey()) {
      if (AssignedColumns.mayHave(key)) {
        throw invalid(
            "UPDATE cannot set column '%s' of the partition key of table %s together with a static"
                + " column; set them by two updates.",
            key, table.path());
      }
    }
  }

  private static RuntimeException invalid(String sentence, Object... names) {
    return ColonnadeException.invalid(sentence, names);
  }

  List<Tree> filters() {
    return read.get();
  }

  /** Returns the columns that a MERGE compares with existing rows; null for another statement. */
  List<String> keys() {
    return compared.get();
  }
}
