package colonnade.spark.quirks;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.spark.SparkException;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.QueryPlanningTracker;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias$;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A rule that names the column for which Spark cannot tell how a {@code MERGE WITH SCHEMA EVOLUTION}
 * is to change its table. Spark itself shows both lists of columns, in an error that is not of its
 * analysis.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkException} where one of two types is nested, and on 4.1
 * also where one of them is void. {@code MergeIntoTable} names its table when the rule runs, and
 * stands below {@code WithCTE} after {@code WITH}.
 */
public final class EvolvingMerges extends Rule<LogicalPlan> {
  private record Clash(String column, DataType own, DataType given) {}

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan statement = plan instanceof WithCTE with ? with.plan() : plan;
    if (statement instanceof MergeIntoTable merge && merge.withSchemaEvolution()) {
      List<LogicalPlan> target = CollectionConverters.asJava(merge.targetTable().collectLeaves());
      if (target.size() == 1 && target.get(0) instanceof UnresolvedRelation named) {
        NamedTables.find(named.multipartIdentifier())
            .filter(relation -> relation.table() instanceof TableAtEpoch)
            .ifPresent(relation -> check(plan, merge, named, relation));
      }
    }
    return plan;
  }

  private static void check(
      LogicalPlan plan,
      MergeIntoTable merge,
      UnresolvedRelation named,
      DataSourceV2Relation relation) {
    TableAtEpoch table = (TableAtEpoch) relation.table();
    Optional<Clash> clash =
        source(plan, merge)
            .flatMap(
                each ->
                    clash("", table.schema(), each, false)
                        .or(() -> clash("", table.schema(), each, true)));
    if (clash.isEmpty()) {
      return;
    }
    LogicalPlan whole = withTarget(merge, named, relation);
    try {
      analyze(plan instanceof WithCTE with ? new WithCTE(whole, with.cteDefs()) : whole);
    } catch (Exception error) {
      if (error instanceof SparkException) {
        throw refusal(table, clash.get());
      } // else Spark says so again, of the statement itself
    }
  }

  /** Returns the columns of the source; nothing if Spark cannot analyze it. */
  private static Optional<StructType> source(LogicalPlan plan, MergeIntoTable merge) {
    LogicalPlan source = merge.sourceTable();
    try {
      return Optional.of(
          EvolvingWrites.analyzed(
                  plan instanceof WithCTE with ? new WithCTE(source, with.cteDefs()) : source)
              .schema());
    } catch (Exception error) {
      if (error instanceof AnalysisException) {
        return Optional.empty();
      }
      throw error;
    }
  }

  /**
   * Returns the first column or field that is nested in one type and not in the other.
   *
   * @param voids whether a void column counts as nested
   */
  private static Optional<Clash> clash(String path, DataType own, DataType given, boolean voids) {
    if (own instanceof StructType mine && given instanceof StructType other) {
      return Arrays.stream(mine.fields())
          .map(field -> clash(path, field, other, voids))
          .flatMap(Optional::stream)
          .findFirst();
    }
    if (own instanceof ArrayType mine && given instanceof ArrayType other) {
      return clash(path + ".element", mine.elementType(), other.elementType(), voids);
    }
    if (own instanceof MapType mine && given instanceof MapType other) {
      return clash(path + ".key", mine.keyType(), other.keyType(), voids)
          .or(() -> clash(path + ".value", mine.valueType(), other.valueType(), voids));
    }
    boolean clashes = !Objects.equals(kind(own, voids), kind(given, voids));
    return clashes ? Optional.of(new Clash(path, own, given)) : Optional.empty();
  }

  private static Optional<Clash> clash(
      String path, StructField field, StructType given, boolean voids) {
    String name = path.isEmpty() ? field.name() : path + "." + field.name();
    return Arrays.stream(given.fields())
        .filter(each -> each.name().equalsIgnoreCase(field.name()))
        .findFirst()
        .flatMap(each -> clash(name, field.dataType(), each.dataType(), voids));
  }

  /** Returns the class of a type that counts as nested, or null. */
  private static Class<?> kind(DataType type, boolean voids) {
    boolean counts =
        type instanceof StructType
            || type instanceof ArrayType
            || type instanceof MapType
            || voids && type instanceof NullType;
    return counts ? type.getClass() : null;
  }

  private static LogicalPlan withTarget(
      MergeIntoTable merge, UnresolvedRelation named, DataSourceV2Relation relation) {
    LogicalPlan aliased =
        merge.targetTable() instanceof SubqueryAlias alias
            ? new SubqueryAlias(alias.identifier(), relation)
            : SubqueryAlias$.MODULE$.apply(named.multipartIdentifier(), relation);
    return merge.copy(
        aliased,
        merge.sourceTable(),
        merge.mergeCondition(),
        merge.matchedActions(),
        merge.notMatchedActions(),
        merge.notMatchedBySourceActions(),
        true);
  }

  private static void analyze(LogicalPlan statement) {
    SparkSession.active()
        .sessionState()
        .analyzer()
        .executeAndCheck(statement, new QueryPlanningTracker(Option.empty()));
  }

  private static RuntimeException refusal(TableAtEpoch table, Clash clash) {
    String advice =
        clash.own instanceof NullType
            ? "give it a type by ALTER TABLE first"
            : "cast the column of the source to the type of the table";
    return ColonnadeException.unchecked(
        "COLONNADE_INVALID_INPUT",
        String.format(
            "Column '%s' of table %s is %s, and this MERGE cannot give it the type %s; %s.",
            clash.column,
            table.path(),
            clash.own.catalogString(),
            clash.given.catalogString(),
            advice));
  }
}
