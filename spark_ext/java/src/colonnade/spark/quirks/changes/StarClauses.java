package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.writes.EvolvingWrites;
import colonnade.spark.table.GeneratedColumn;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.InsertStarAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateStarAction;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.internal.SQLConf;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The clauses {@code UPDATE SET *} and {@code INSERT *} of a MERGE whose source lacks a generated or
 * an identity column of the table. They set the other columns, as Delta does. Spark asks the source
 * for every column, unless the statement has {@code WITH SCHEMA EVOLUTION}.
 *
 * <p>Seen on Spark 4.1 and 4.3: values of an {@code UpdateStarAction} are found in the source only,
 * and those of an {@code UpdateAction} in both tables, so they are columns of the analyzed source.
 */
final class StarClauses {
  private final TableAtEpoch table;
  private final List<Attribute> source;

  private StarClauses(TableAtEpoch table, List<Attribute> source) {
    this.table = table;
    this.source = source;
  }

  /** Returns a statement with clauses that name the columns which the table does not give itself. */
  static LogicalPlan named(LogicalPlan plan, UnresolvedRelation target) {
    if (!(RowChanges.statement(plan) instanceof MergeIntoTable merge)
        || merge.withSchemaEvolution()
        || !hasStar(merge)) {
      return plan;
    }
    return RowChanges.table(target)
        .filter(table -> !givenBy(table).isEmpty())
        .map(table -> named(plan, merge, table))
        .orElse(plan);
  }

  private static LogicalPlan named(LogicalPlan plan, MergeIntoTable merge, TableAtEpoch table) {
    LogicalPlan source =
        EvolvingWrites.analyzed(
            plan instanceof WithCTE with
                ? new WithCTE(merge.sourceTable(), with.cteDefs())
                : merge.sourceTable());
    StarClauses clauses = new StarClauses(table, CollectionConverters.asJava(source.output()));
    if (!clauses.namesAllBut(givenBy(table))) {
      return plan; // Spark names the column that the source lacks
    }
    LogicalPlan named =
        merge.copy(
            merge.targetTable(),
            source,
            merge.mergeCondition(),
            clauses.named(merge.matchedActions()),
            clauses.named(merge.notMatchedActions()),
            merge.notMatchedBySourceActions(),
            false);
    return plan instanceof WithCTE with ? new WithCTE(named, with.cteDefs()) : named;
  }

  private static boolean hasStar(MergeIntoTable merge) {
    return merge.matchedActions().exists(UpdateStarAction.class::isInstance)
        || merge.notMatchedActions().exists(InsertStarAction.class::isInstance);
  }

  /** Returns the columns whose values a table can give: generated ones and identity columns. */
  private static Set<String> givenBy(TableAtEpoch table) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    table.generated().stream().map(GeneratedColumn::column).forEach(names::add);
    for (Column column : table.columns()) {
      if (column.identityColumnSpec() != null) {
        names.add(column.name());
      }
    }
    return names;
  }

  private Seq<MergeAction> named(Seq<MergeAction> actions) {
    List<MergeAction> all = new ArrayList<>();
    for (MergeAction each : CollectionConverters.asJava(actions)) {
      if (each instanceof UpdateStarAction star) {
        all.add(new UpdateAction(star.condition(), assignments(), true));
      } else if (each instanceof InsertStarAction star) {
        all.add(new InsertAction(star.condition(), assignments()));
      } else {
        all.add(each);
      }
    }
    return SetColumns.seq(all);
  }

  /** Returns the columns of the source that have a name: one, or none, or several. */
  private List<Attribute> sourceColumns(String name) {
    return source.stream()
        .filter(each -> (boolean) SQLConf.get().resolver().apply(each.name(), name))
        .toList();
  }

  private boolean namesAllBut(Set<String> given) {
    return Arrays.stream(table.schema().fieldNames())
        .allMatch(name -> given.contains(name) || !sourceColumns(name).isEmpty());
  }

  private Seq<Assignment> assignments() {
    List<Assignment> all = new ArrayList<>();
    for (String name : table.schema().fieldNames()) {
      List<Attribute> found = sourceColumns(name);
      if (!found.isEmpty()) {
        Expression value = found.size() == 1 ? found.get(0) : new UnresolvedAttribute(parts(name));
        all.add(new Assignment(new UnresolvedAttribute(parts(name)), value));
      }
    }
    return SetColumns.seq(all);
  }

  private static Seq<String> parts(String name) {
    return SetColumns.seq(List.of(name));
  }
}
