package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructField;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that refuses columns of an {@code INSERT} which its table lacks, and names the setting that
 * would add them. Spark's own error names columns alone. An {@code INSERT} with {@code PARTITION (…)}
 * is left to Spark.
 *
 * <p>Seen on Spark 4.1 and 4.3: rules of this kind run last in each round of the analysis. {@code
 * InsertIntoStatement} becomes another command at the start of the round after its table and its
 * rows are resolved.
 */
public final class UnknownColumns extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<LogicalPlan, LogicalPlan> COMPARE =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(LogicalPlan plan) {
          return plan instanceof InsertIntoStatement insert && insert.query().resolved();
        }

        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          compare((InsertIntoStatement) plan);
          return plan;
        }
      };

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.resolveOperatorsUp(COMPARE);
  }

  /** Refuses a write of a DataFrame whose columns the table lacks. Requires: its rows are resolved. */
  static void compare(V2WriteCommand write, TableAtEpoch table) {
    List<String> given = names(write.query());
    if (write.isByName()) {
      Set<String> known = known(table);
      for (String name : given) {
        if (!known.contains(name)) {
          throw refusal(
              "Table %s has no column '%s'; set the option %s to true to add it, or %s to leave it"
                  + " out.",
              table.path(), name, EvolvingWrites.MERGE_SCHEMA, EvolvingWrites.IGNORE_UNKNOWN);
        }
      }
    } else {
      refuseMore(table, given, "the option " + EvolvingWrites.MERGE_SCHEMA);
    }
  }

  private static void compare(InsertIntoStatement insert) {
    if (!(insert.table() instanceof DataSourceV2Relation relation)
        || !(relation.table() instanceof TableAtEpoch table)
        || !insert.partitionSpec().isEmpty()
        || EvolvingInserts.evolves(insert)) {
      return;
    }
    List<String> listed = CollectionConverters.asJava(insert.userSpecifiedCols());
    if (listed.isEmpty() && !insert.byName()) {
      refuseMore(table, names(insert.query()), EvolvingWrites.MERGE_SETTING);
      return;
    }
    Set<String> known = known(table);
    for (String name : listed.isEmpty() ? names(insert.query()) : listed) {
      if (!known.contains(name)) {
        throw refusal(
            "Table %s has no column '%s'; set %s to true to add it.",
            table.path(), name, EvolvingWrites.MERGE_SETTING);
      }
    }
  }

  /** Refuses more columns than the table has, where they are matched by position. */
  private static void refuseMore(TableAtEpoch table, List<String> given, String setting) {
    int most = table.schema().size();
    if (given.size() > most) {
      throw refusal(
          "Table %s has no column for '%s', because it has %d columns and the rows have %d; set %s"
              + " to true to add what it lacks.",
          table.path(), given.get(most), most, given.size(), setting);
    }
  }

  private static List<String> names(LogicalPlan rows) {
    List<String> names = new ArrayList<>();
    for (Attribute column : CollectionConverters.asJava(rows.output())) {
      names.add(column.name());
    }
    return names;
  }

  /** Returns the names of a table's columns, in upper or lower case. */
  static Set<String> known(TableAtEpoch table) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (StructField field : table.schema().fields()) {
      names.add(field.name());
    }
    return names;
  }

  private static RuntimeException refusal(String sentence, Object... parts) {
    return ColonnadeException.unchecked(
        "COLONNADE_INVALID_INPUT", String.format(sentence, parts));
  }
}
