package colonnade.spark.quirks.reads;

import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.ReadOptions;
import colonnade.spark.table.TableAtEpoch;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;

/**
 * A rule that gives a table of a catalog the columns that the options of a read ask for, as {@code
 * schemaEpoch} does. Spark tells a catalog an epoch or a time, and no other option. It gives all
 * options to the scan, when the columns of the table are known. It does not tell a catalog either
 * that a table is read as a stream, whose columns may all be NULL.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code UnresolvedRelation} has the options, with {@code versionAsOf}
 * and {@code timestampAsOf} of a DataFrame among them.
 */
public final class StatedReads extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    boolean changesRows =
        plan instanceof MergeIntoTable
            || plan instanceof UpdateTable
            || plan instanceof DeleteFromTable;
    return changesRows ? plan : loaded(plan);
  }

  private LogicalPlan loaded(LogicalPlan plan) {
    if (plan instanceof RelationTimeTravel) {
      return plan;
    }
    if (!(plan instanceof UnresolvedRelation named)) {
      return plan.mapChildren(this::loaded);
    }
    Map<String, String> options = NamedTables.options(named);
    if (!named.isStreaming() && !ReadOptions.statesColumns(options)) {
      return plan;
    }
    return NamedTables.find(named.multipartIdentifier())
        .flatMap(
            found ->
                found.table() instanceof TableAtEpoch table
                    ? loaded(table.path(), options, named.isStreaming())
                    : Optional.empty())
        .<LogicalPlan>map(
            found -> SubqueryAlias$.MODULE$.apply(named.multipartIdentifier(), found))
        .orElse(plan);
  }

  /**
   * Returns a table as {@code spark.read.load} or {@code spark.readStream.load} does. Spark then
   * loads a table that is read once again for each use.
   */
  private static Optional<LogicalPlan> loaded(
      String path, Map<String, String> options, boolean asStream) {
    SparkSession session = SparkSession.active();
    if (asStream) {
      return Optional.of(
          session
              .readStream()
              .format("colonnade")
              .options(options)
              .load(path)
              .queryExecution()
              .analyzed());
    }
    return NamedTables.relation(
            session
                .read()
                .format("colonnade")
                .options(options)
                .load(path)
                .queryExecution()
                .analyzed())
        .map(LogicalPlan.class::cast);
  }
}
