package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.RunningStatement;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.classic.SparkSession;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The columns that the text of an UPDATE names after SET. Spark forgets those that a table only
 * offers beside its own, such as {@code _row}.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code UpdateTable} with {@code UnresolvedAttribute} as keys, in the
 * text that {@code Origin} keeps of the statement.
 */
public final class NamedColumns {
  private NamedColumns() {}

  /** Returns the parts of each name, in the running UPDATE; nothing for another statement. */
  public static List<List<String>> running() {
    List<List<String>> names = new ArrayList<>();
    Option<String> text =
        RunningStatement.find(WriteDelta.class)
            .map(statement -> statement.origin().sqlText())
            .orElse(Option.empty());
    if (text.isDefined()) {
      add(parsed(text.get()), names);
    }
    return names;
  }

  private static LogicalPlan parsed(String text) {
    try {
      return SparkSession.active().sessionState().sqlParser().parsePlan(text);
    } catch (ParseException error) {
      throw new IllegalStateException("Spark has parsed this text before: " + text, error);
    }
  }

  private static void add(LogicalPlan plan, List<List<String>> names) {
    if (plan instanceof UpdateTable update) {
      for (Assignment each : CollectionConverters.asJava(update.assignments())) {
        if (each.key() instanceof UnresolvedAttribute name) {
          names.add(CollectionConverters.asJava(name.nameParts()));
        }
      }
    }
    CollectionConverters.asJava(plan.children()).forEach(child -> add(child, names));
  }
}
