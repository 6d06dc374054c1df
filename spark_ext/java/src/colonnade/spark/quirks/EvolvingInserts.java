package colonnade.spark.quirks;

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
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that gives a table what it lacks for the rows of an {@code INSERT} of SQL, in sessions with
 * the setting {@code spark.colonnade.mergeSchema}. Where the statement itself asks for schema
 * evolution, Spark changes the table, and the rule refuses rows before that which the table could
 * not take. An {@code INSERT} with {@code PARTITION (…)} is left to Spark.
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
      NamedTables.find(named.multipartIdentifier())
          .filter(relation -> relation.table() instanceof TableAtEpoch)
          .ifPresent(
              relation -> evolve((TableAtEpoch) relation.table(), insert, query(plan, insert)));
    }
    return plan;
  }

  /** Whether the statement has the clause WITH SCHEMA EVOLUTION, which Spark 4.1 does not know. */
  private static boolean isEvolving(InsertIntoStatement insert) {
    int last = insert.productArity() - 1;
    return insert.productElementName(last).equals("withSchemaEvolution")
        && (boolean) insert.productElement(last);
  }

  /** Returns the rows of a statement, as a query of its own. */
  private static LogicalPlan query(LogicalPlan plan, InsertIntoStatement insert) {
    return plan instanceof WithCTE with
        ? new WithCTE(insert.query(), with.cteDefs())
        : insert.query();
  }

  private static void evolve(TableAtEpoch table, InsertIntoStatement insert, LogicalPlan query) {
    Optional<StructType> columns = columns(query, insert);
    boolean named = insert.byName() || insert.userSpecifiedCols().nonEmpty();
    if (columns.isEmpty()) {
      return;
    }
    if (EvolvingWrites.mergesByDefault()) {
      EvolvingWrites.merge(table, columns.get(), named, Map.of());
    } else {
      EvolvingWrites.check(table, columns.get(), named);
    }
  }

  /** Returns the columns under the names of the statement; nothing if only Spark can tell them. */
  private static Optional<StructType> columns(LogicalPlan query, InsertIntoStatement insert) {
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
