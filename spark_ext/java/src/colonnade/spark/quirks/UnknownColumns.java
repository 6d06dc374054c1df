package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import colonnade.spark.table.UnknownFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * A rule that refuses columns and fields of an {@code INSERT} which its table lacks, and names the
 * setting that would add them. Spark's own error names no setting. An {@code INSERT} with {@code PARTITION (…)}
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

  /**
   * Refuses a write whose columns the table lacks. Requires: its rows are resolved.
   *
   * @param isSql whether the write is a statement of SQL, and not of a DataFrame
   */
  static void compare(V2WriteCommand write, TableAtEpoch table, boolean isSql) {
    List<StructField> given = columns(write.query(), List.of());
    String option =
        isSql ? EvolvingWrites.MERGE_SETTING : "the option " + EvolvingWrites.MERGE_SCHEMA;
    if (write.isByName()) {
      refuseUnknown(
          table, given, option, ", or " + EvolvingWrites.IGNORE_UNKNOWN + " to leave it out");
      refuseFields(table, UnknownFields.byName(table.schema(), struct(given)), option);
    } else {
      refuseMore(table, given, option);
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
    List<StructField> given = columns(insert.query(), listed);
    if (listed.isEmpty() && !insert.byName()) {
      refuseMore(table, given, EvolvingWrites.MERGE_SETTING);
      return;
    }
    refuseUnknown(table, given, EvolvingWrites.MERGE_SETTING, "");
    if (listed.isEmpty()) {
      refuseFields(
          table, UnknownFields.byName(table.schema(), struct(given)), EvolvingWrites.MERGE_SETTING);
    } else {
      // Spark matches the fields inside the columns of a list by position.
      List<StructField> own = new ArrayList<>();
      for (StructField column : given) {
        own.add(UnknownFields.named(table.schema(), column.name()));
      }
      refuseFields(
          table, UnknownFields.byPosition(struct(own), struct(given)), EvolvingWrites.MERGE_SETTING);
    }
  }

  /** Refuses a column that the table lacks, where columns are matched by name. */
  private static void refuseUnknown(
      TableAtEpoch table, List<StructField> given, String setting, String otherwise) {
    Set<String> known = known(table);
    for (StructField column : given) {
      if (!known.contains(column.name())) {
        throw refusal(
            "Table %s has no column '%s'; set %s to true to add it%s.",
            table.path(), column.name(), setting, otherwise);
      }
    }
  }

  /** Refuses more columns or fields than the table has, where they are matched by position. */
  private static void refuseMore(TableAtEpoch table, List<StructField> given, String setting) {
    StructType columns = table.schema();
    int most = columns.size();
    if (given.size() > most) {
      throw refusal(
          "Table %s has no column for '%s', because it has %d columns and the rows have %d; set %s"
              + " to true to add what it lacks.",
          table.path(), given.get(most).name(), most, given.size(), setting);
    }
    refuseFields(table, UnknownFields.byPosition(columns, struct(given)), setting);
  }

  private static void refuseFields(TableAtEpoch table, Optional<String> unknown, String setting) {
    if (unknown.isPresent()) {
      throw refusal(
          "Table %s has no field '%s'; set %s to true to add it.",
          table.path(), unknown.get(), setting);
    }
  }

  /** Returns the columns of rows, under the names of a statement that lists them. */
  private static List<StructField> columns(LogicalPlan rows, List<String> listed) {
    List<StructField> columns = new ArrayList<>();
    List<Attribute> output = CollectionConverters.asJava(rows.output());
    int count = listed.isEmpty() ? output.size() : listed.size();
    for (int at = 0; at < count; at++) {
      String name = listed.isEmpty() ? output.get(at).name() : listed.get(at);
      DataType type = at < output.size() ? output.get(at).dataType() : DataTypes.NullType;
      columns.add(new StructField(name, type, true, Metadata.empty()));
    }
    return columns;
  }

  private static StructType struct(List<StructField> fields) {
    return new StructType(fields.toArray(StructField[]::new));
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
