package colonnade.spark.quirks;

import colonnade.spark.table.GeneratedColumn;
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
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.v2.ShowCreateTableExec;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A strategy that adds the expressions of generated columns to {@code SHOW CREATE TABLE}. Spark
 * leaves them out.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ShowCreateTableExec}, whose text has one line for each column
 * and each constraint.
 */
final class ShownGenerated extends SparkStrategy {
  static final SparkStrategy STRATEGY = new ShownGenerated();

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    boolean applies =
        plan instanceof ShowCreateTable show
            && !show.asSerde()
            && show.child() instanceof ResolvedTable found
            && found.table() instanceof GeneratedColumn.Owner owner
            && !owner.generated().isEmpty();
    if (!applies) {
      return seq(List.of());
    }
    ShowCreateTable show = (ShowCreateTable) plan;
    ResolvedTable found = (ResolvedTable) show.child();
    InternalRow row = new ShowCreateTableExec(show.output(), found).executeCollect()[0];
    String text =
        withExpressions(row.getUTF8String(0).toString(), (GeneratedColumn.Owner) found.table());
    InternalRow shown = new GenericInternalRow(new Object[] {UTF8String.fromString(text)});
    LogicalPlan rows =
        new LocalRelation(show.output(), seq(List.of(shown)), false, Option.empty());
    return seq(List.of(planLater(rows)));
  }

  private static String withExpressions(String shown, GeneratedColumn.Owner owner) {
    Map<String, String> expressions = new HashMap<>();
    owner.generated().forEach(each -> expressions.put(each.column(), each.sql()));
    StringBuilder text = new StringBuilder(shown);
    int at = 0;
    for (String name : owner.declared().fieldNames()) {
      String start = "\n  " + QuotingUtils.quoteIfNeeded(name) + " ";
      at = text.indexOf(start, at) + start.length();
      String sql = expressions.get(name);
      if (sql != null) {
        text.insert(endOfType(text, at), " GENERATED ALWAYS AS (" + sql + ")");
      }
    }
    return text.toString();
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

  private static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }
}
