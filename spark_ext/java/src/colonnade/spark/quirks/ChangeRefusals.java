package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.spark.SparkException;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What Spark's refusals of an {@code UPDATE} or {@code MERGE} leave out. Spark compares the values of
 * such a statement with a table that has no name.
 *
 * <p>Seen on Spark 4.1 and 4.3: the error conditions below and their parameters.
 */
final class ChangeRefusals {
  private static final String INCOMPATIBLE = "INCOMPATIBLE_DATA_FOR_TABLE.";
  private static final String EXTRA_FIELDS = INCOMPATIBLE + "EXTRA_STRUCT_FIELDS";
  private static final String ASSIGNMENTS =
      "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS";
  private static final String TABLE = "tableName";
  private static final Pattern MISSING = Pattern.compile("No assignment for '([^']+)'");

  private ChangeRefusals() {}

  /** Throws the error of a statement, or what explains it better. Never returns. */
  static RuntimeException explained(Exception error, LogicalPlan plan, UnresolvedRelation named) {
    Optional<TableAtEpoch> table = isOpaque(error) ? RowChanges.table(named) : Optional.empty();
    LogicalPlan statement = RowChanges.statement(plan);
    if (table.isPresent() && error instanceof AnalysisException refused) {
      throw ChangeRefusals.<RuntimeException>disguised(
          explained(refused, statement instanceof MergeIntoTable, table.get(), named));
    }
    if (table.isPresent()
        && error instanceof SparkException
        && statement instanceof MergeIntoTable merge
        && merge.withSchemaEvolution()) {
      throw ChangeRefusals.<RuntimeException>disguised(
          MergeClash.refusal(plan, merge, table.get()).map(Exception.class::cast).orElse(error));
    }
    throw ChangeRefusals.<RuntimeException>disguised(error);
  }

  /** Whether an error may be about a table that it does not name. */
  private static boolean isOpaque(Exception error) {
    if (!(error instanceof AnalysisException refused)) {
      return error instanceof SparkException;
    }
    String condition = refused.getCondition();
    return condition != null
        && (condition.equals(ASSIGNMENTS)
            || condition.startsWith(INCOMPATIBLE)
                && "``".equals(refused.getMessageParameters().get(TABLE)));
  }

  private static Exception explained(
      AnalysisException refused, boolean merges, TableAtEpoch table, UnresolvedRelation named) {
    Map<String, String> parameters = new HashMap<>(refused.getMessageParameters());
    if (refused.getCondition().equals(EXTRA_FIELDS)) {
      return refusal(
          "Table %s has no field %s in its column %s; add it by ALTER TABLE%s.",
          table.path(),
          parameters.get("extraFields"),
          parameters.get("colName"),
          merges
              ? ", or by MERGE WITH SCHEMA EVOLUTION, which adds the fields of a column of the"
                  + " source that a clause assigns, unchanged, to the column of exactly the same name"
              : "");
    }
    if (refused.getCondition().equals(ASSIGNMENTS)) {
      Matcher missing = MISSING.matcher(parameters.getOrDefault("errors", ""));
      return missing.find()
          ? refusal(
              "Column '%s' of table %s is NOT NULL and has no default, and an INSERT clause of the"
                  + " MERGE leaves it out; give it a value there.",
              missing.group(1), table.path())
          : refused;
    }
    parameters.put(
        TABLE,
        CollectionConverters.asJava(named.multipartIdentifier()).stream()
            .map(part -> "`" + part.replace("`", "``") + "`")
            .collect(Collectors.joining(".")));
    return new AnalysisException(
        refused.getCondition(),
        scala.collection.immutable.Map.from(CollectionConverters.asScala(parameters)));
  }

  private static ColonnadeException refusal(String sentence, Object... parts) {
    return new ColonnadeException("COLONNADE_INVALID_INPUT", String.format(sentence, parts));
  }

  @SuppressWarnings("unchecked") // Spark's analyzer declares no checked exception, and throws them
  private static <E extends Throwable> RuntimeException disguised(Throwable error) throws E {
    throw (E) error;
  }
}
