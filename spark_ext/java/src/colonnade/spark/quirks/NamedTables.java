package colonnade.spark.quirks;

import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The tables that statements name, for rules that run before Spark looks for them.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code DataSourceV2Relation} below {@code SubqueryAlias}, and below a
 * {@code Project} that pads the columns of the type {@code char}.
 */
final class NamedTables {
  private NamedTables() {}

  /** Returns the table of a name; nothing if it is a view, or a table that is missing. */
  static Optional<DataSourceV2Relation> find(Seq<String> parts) {
    String name =
        CollectionConverters.asJava(parts).stream()
            .map(part -> "`" + part.replace("`", "``") + "`")
            .collect(Collectors.joining("."));
    SparkSession session = SparkSession.active();
    if (!session.catalog().tableExists(name)) {
      return Optional.empty();
    }
    LogicalPlan found = session.table(name).queryExecution().analyzed();
    while (found instanceof SubqueryAlias || found instanceof Project) {
      found = found.children().head();
    }
    return found instanceof DataSourceV2Relation relation
        ? Optional.of(relation)
        : Optional.empty();
  }
}
