package colonnade.spark.quirks.statement;

import colonnade.spark.quirks.session.OwnCatalog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
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
 * {@code Project} that pads the columns of the type {@code char}. The settings name the classes of
 * catalogs, because {@code CatalogManager} is a class on 4.1 and an interface on 4.3.
 */
public final class NamedTables {
  private NamedTables() {}

  /** Returns the options that a statement gives the table that it names. */
  public static Map<String, String> options(UnresolvedRelation table) {
    Map<String, String> all = new HashMap<>(table.options().asCaseSensitiveMap());
    all.remove(UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES());
    return all;
  }

  /** Returns the table of a name; nothing if it is a view, missing, or in another catalog. */
  public static Optional<DataSourceV2Relation> find(Seq<String> parts) {
    List<String> names = CollectionConverters.asJava(parts);
    if (!isInOwnCatalog(names)) {
      return Optional.empty();
    }
    String name =
        names.stream()
            .map(part -> "`" + part.replace("`", "``") + "`")
            .collect(Collectors.joining("."));
    SparkSession session = SparkSession.active();
    if (!session.catalog().tableExists(name)) {
      return Optional.empty();
    }
    return relation(session.table(name).queryExecution().analyzed());
  }

  /** Returns the table that the whole of an analyzed plan reads; nothing for any other plan. */
  public static Optional<DataSourceV2Relation> relation(LogicalPlan analyzed) {
    LogicalPlan found = analyzed;
    while (found instanceof SubqueryAlias || found instanceof Project) {
      found = found.children().head();
    }
    return found instanceof DataSourceV2Relation relation
        ? Optional.of(relation)
        : Optional.empty();
  }

  /** Whether a table is named in a catalog of Colonnade. */
  public static boolean isInOwnCatalog(UnresolvedRelation named) {
    return isInOwnCatalog(CollectionConverters.asJava(named.multipartIdentifier()));
  }

  /** Whether a name leads to a catalog of Colonnade. So no table of another one is looked for. */
  private static boolean isInOwnCatalog(List<String> names) {
    String first = names.get(0);
    boolean said = names.size() > 1 && OwnCatalog.isCatalog(first);
    return OwnCatalog.isOwn(said ? first : SparkSession.active().catalog().currentCatalog());
  }
}
