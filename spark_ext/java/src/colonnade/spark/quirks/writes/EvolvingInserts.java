package colonnade.spark.quirks.writes;

import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.TableAtEpoch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that analyzes an {@code INSERT} of SQL as if its table had what it lacks for the rows. It
 * applies if the statement asks for schema evolution, or if the session has the setting {@code
 * spark.colonnade.mergeSchema}. The write then changes the table in the epoch of the rows. An
 * {@code INSERT} with {@code PARTITION (…)} is left to Spark.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code InsertIntoStatement} names its table when the rule runs, and
 * stands below {@code WithCTE} after {@code WITH}.
 */
public final class EvolvingInserts extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = plan instanceof WithCTE with ? with.plan() : plan;
    if (statement instanceof InsertIntoStatement insert
        && insert.table() instanceof UnresolvedRelation named
        && insert.partitionSpec().isEmpty()
        && (EvolvingWrites.mergesByDefault() || isEvolving(insert))) {
      return NamedTables.find(named.multipartIdentifier())
          .filter(relation -> relation.table() instanceof TableAtEpoch)
          .flatMap(
              relation ->
                  evolved(relation, insert, query(plan, insert), NamedTables.options(named)))
          .<LogicalPlan>map(
              changed -> plan instanceof WithCTE with ? new WithCTE(changed, with.cteDefs()) : changed)
          .orElse(plan);
    }
    return plan;
  }

  /** Whether a write has the clause WITH SCHEMA EVOLUTION, which Spark 4.1 does not know. */
  private static boolean isEvolving(LogicalPlan plan) {
    return evolutionAt(plan) >= 0 && (boolean) plan.productElement(evolutionAt(plan));
  }

  private static int evolutionAt(LogicalPlan plan) {
    int at = plan.productArity() - 1;
    while (at >= 0 && !plan.productElementName(at).equals("withSchemaEvolution")) {
      at--;
    }
    return at;
  }

  /** Returns the rows of a statement, as a query of its own. */
  static LogicalPlan query(LogicalPlan plan, InsertIntoStatement insert) {
    return plan instanceof WithCTE with
        ? new WithCTE(insert.query(), with.cteDefs())
        : insert.query();
  }

  /** Returns the statement with its table as it will be; nothing if only Spark can tell. */
  private static Optional<LogicalPlan> evolved(
      DataSourceV2Relation table,
      InsertIntoStatement insert,
      LogicalPlan query,
      Map<String, String> options) {
    boolean named = insert.byName() || insert.userSpecifiedCols().nonEmpty();
    CaseInsensitiveStringMap own = new CaseInsensitiveStringMap(options);
    return columns(query, insert)
        .flatMap(each -> EvolvingWrites.evolved(table, each, named, options, own))
        .map(after -> insert.makeCopy(withTable(insert, after)));
  }

  /** Returns the parts of a statement with another table, for which Spark evolves nothing. */
  static Object[] withTable(InsertIntoStatement insert, LogicalPlan table) {
    Object[] parts = new Object[insert.productArity()];
    for (int at = 0; at < parts.length; at++) {
      boolean isTable = insert.productElementName(at).equals("table");
      parts[at] = isTable ? table : insert.productElement(at);
    }
    if (evolutionAt(insert) >= 0) {
      parts[evolutionAt(insert)] = false;
    }
    return parts;
  }

  /** Returns the columns under the names of the statement; nothing if only Spark can tell them. */
  static Optional<StructType> columns(LogicalPlan query, InsertIntoStatement insert) {
    StructType found;
    try {
      found = EvolvingWrites.analyzed(query).schema();
    } catch (Exception error) {
      if (error instanceof AnalysisException) {
        return Optional.empty(); // Spark knows better, or says so: the rows may have DEFAULT
      }
      throw error;
    }
    List<String> names = CollectionConverters.asJava(insert.userSpecifiedCols());
    if (names.isEmpty()) {
      return Optional.of(found);
    }
    StructType columns = new StructType();
    for (int at = 0; at < Math.min(names.size(), found.size()); at++) {
      StructField field = found.fields()[at];
      columns = columns.add(names.get(at), field.dataType(), true, field.metadata());
    }
    return Optional.of(columns);
  }
}
