package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses;
import colonnade.spark.quirks.expressions.ComputedExpression;
import colonnade.spark.quirks.expressions.ReadColumns;
import colonnade.spark.quirks.statement.RunningStatement;
import colonnade.spark.table.GeneratedColumn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.expressions.RowOrdering$;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;

/** Generated columns of a statement in the planner's terms. Spark has checked their expressions. */
final class Generated {
  private Generated() {}

  /**
   * Returns the declared expressions. Columns of a query state those of the tables that it reads,
   * which are not meant.
   */
  static List<Clauses.Generated> of(Column[] columns, StructType schema) {
    List<Clauses.Generated> found = new ArrayList<>();
    for (Column column : columns) {
      if (column.generationExpression() != null && !RunningStatement.createsFromQuery()) {
        found.add(of(column, schema).described());
      }
    }
    return found;
  }

  private static GeneratedColumn of(Column column, StructType schema) {
    Set<String> known = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    known.addAll(Arrays.asList(schema.fieldNames()));
    String sql = column.generationExpression();
    List<String> reads = new ArrayList<>(ReadColumns.of(sql, known));
    GeneratedColumn generated =
        GeneratedColumn.of(column, reads, SQLConf.get().sessionLocalTimeZone());
    if (!RowOrdering$.MODULE$.isOrderable(column.dataType())) {
      throw refusal(
          column, "its values of type " + column.dataType().sql() + " cannot be compared");
    }
    if (new ComputedExpression("the table", generated, schema).isOfSession()) {
      throw refusal(column, "it is not deterministic: it depends on the session or its time");
    }
    return generated;
  }

  /** Returns columns as declared in a table like {@code source}, whose columns they are. */
  static Column[] like(Table source, Column[] columns) {
    Column[] all = columns.clone();
    if (source instanceof GeneratedColumn.Owner owner) {
      for (GeneratedColumn each : owner.generated()) {
        for (int at = 0; at < all.length; at++) {
          all[at] = all[at].name().equals(each.column()) ? each.declared(all[at]) : all[at];
        }
      }
    }
    return all;
  }

  private static RuntimeException refusal(Column column, String why) {
    return ColonnadeException.invalid(
        "Column '%s' cannot be generated as %s, because %s; use another expression, or a"
            + " default.",
        column.name(), column.generationExpression(), why);
  }
}
