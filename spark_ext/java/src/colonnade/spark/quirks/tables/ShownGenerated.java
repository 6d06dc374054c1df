package colonnade.spark.quirks.tables;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.table.GeneratedColumn;
import colonnade.spark.table.TableAtEpoch;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.ResolvedTable;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ShowCreateTable;
import org.apache.spark.sql.catalyst.util.QuotingUtils;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.IdentityColumnSpec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.v2.ShowCreateTableExec;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;

/**
 * A strategy that adds what generated and identity columns state to {@code SHOW CREATE TABLE}. Spark
 * leaves it out. SQL has no clause for the time zone of an expression, so a comment shows it.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ShowCreateTableExec}, whose text has one line for each column
 * and each constraint.
 */
public final class ShownGenerated extends SparkStrategy {
  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    boolean applies =
        plan instanceof ShowCreateTable show
            && !show.asSerde()
            && show.child() instanceof ResolvedTable found
            && found.table() instanceof TableAtEpoch table
            && !clauses(table).isEmpty();
    if (!applies) {
      return seq();
    }
    ShowCreateTable show = (ShowCreateTable) plan;
    ResolvedTable found = (ResolvedTable) show.child();
    InternalRow row = new ShowCreateTableExec(show.output(), found).executeCollect()[0];
    String text = withClauses(row.getUTF8String(0).toString(), (TableAtEpoch) found.table());
    InternalRow shown = new GenericInternalRow(new Object[] {UTF8String.fromString(text)});
    LogicalPlan rows =
        new LocalRelation(show.output(), seq(List.of(shown)), false, Option.empty());
    return seq(List.of(planLater(rows)));
  }

  private static String withClauses(String shown, TableAtEpoch table) {
    Map<String, String> clauses = clauses(table);
    StringBuilder text = new StringBuilder(shown);
    int at = 0;
    for (String name : table.declared().fieldNames()) {
      String start = "\n  " + QuotingUtils.quoteIfNeeded(name) + " ";
      at = text.indexOf(start, at) + start.length();
      text.insert(endOfType(text, at), clauses.getOrDefault(name, ""));
    }
    return text.toString();
  }

  /** Returns what Spark leaves out, by column. */
  private static Map<String, String> clauses(TableAtEpoch table) {
    Map<String, String> found = new HashMap<>();
    for (GeneratedColumn each : table.generated()) {
      String zone = " /* in the time zone " + each.timeZone() + " */";
      found.put(each.column(), " GENERATED ALWAYS AS (" + each.sql() + ")" + zone);
    }
    for (Column column : table.columns()) {
      IdentityColumnSpec stated = column.identityColumnSpec();
      if (stated != null) {
        found.put(
            column.name(),
            String.format(
                " GENERATED %s AS IDENTITY (START WITH %d INCREMENT BY %d)",
                stated.isAllowExplicitInsert() ? "BY DEFAULT" : "ALWAYS",
                stated.getStart(),
                stated.getStep()));
      }
    }
    return found;
  }

  /** Returns where the type that begins at a place ends: before a comment or the next column. */
  private static int endOfType(StringBuilder text, int start) {
    int open = 0;
    boolean named = false;
    for (int at = start; ; at++) {
      char each = text.charAt(at);
      named ^= each == '`';
      if (named) {
        continue;
      }
      boolean comment = text.indexOf(" COMMENT '", at) == at;
      if (open == 0 && (each == ',' || each == ')' || comment)) {
        return at;
      }
      open += each == '(' || each == '<' ? 1 : each == ')' || each == '>' ? -1 : 0;
    }
  }
}
