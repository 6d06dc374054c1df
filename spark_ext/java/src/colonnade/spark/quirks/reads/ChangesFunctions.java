package colonnade.spark.quirks.reads;

import colonnade.planner.ColonnadeException;
import colonnade.spark.feed.ChangesOptions;
import colonnade.spark.feed.ChangesTable;
import colonnade.spark.quirks.statement.NamedTables;
import colonnade.spark.table.SessionTime;
import colonnade.spark.table.UserPath;
import colonnade.spark.table.TableAtEpoch;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.optimizer.ComputeCurrentTime$;
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation$;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.TimestampType$;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The table functions {@code table_changes('t', first, last)} and {@code
 * table_changes_by_path('/data/t', first, last)}, by Delta's names. A bound is an epoch, a time, or
 * the name of a tag; without the last one, the range ends with the newest epoch.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkSessionExtensions.injectTableFunction}, {@code
 * TableFunctionRegistry} and {@code DataSourceV2Relation.create}.
 */
public final class ChangesFunctions {
  private static final List<ChangesFunction> ALL =
      List.of(
          new ChangesFunction("table_changes", ChangesFunctions::pathOfName),
          new ChangesFunction("table_changes_by_path", ChangesFunctions::absolute));

  private ChangesFunctions() {}

  /** A function, and where the table is that its first argument means. */
  private record ChangesFunction(String name, Function<String, String> path) {
    LogicalPlan plan(Seq<Expression> arguments) {
      List<Expression> given = CollectionConverters.asJava(arguments);
      if (given.size() < 2 || given.size() > 3) {
        throw ColonnadeException.invalid(
            "Function %s takes a table, the first epoch and, if you like, the last one, as in"
                + " %s(%s, 0); it was called with %d arguments.",
            name, name, name.endsWith("path") ? "'/data/t'" : "'t'", given.size());
      }
      if (!(given.get(0).dataType() instanceof StringType)) {
        throw ColonnadeException.invalid(
            "The first argument of function %s must be a text that names a table.", name);
      }
      Map<String, String> options = new HashMap<>();
      addBound(given.get(1), ChangesOptions.FIRST_VERSION, ChangesOptions.FIRST_TIME, options);
      if (given.size() == 3) {
        addBound(given.get(2), ChangesOptions.LAST_VERSION, ChangesOptions.LAST_TIME, options);
      }
      ChangesTable table = ChangesTable.load(path.apply(value(given.get(0)).toString()), options);
      return DataSourceV2Relation$.MODULE$.create(
          table, Option.empty(), Option.empty(), CaseInsensitiveStringMap.empty(), Option.empty());
    }

    /** Adds the option that a bound means. A text is an epoch, a time, or the name of a tag. */
    private void addBound(
        Expression bound, String version, String time, Map<String, String> options) {
      DataType type = bound.dataType();
      if (type instanceof IntegralType) {
        options.put(version, value(bound).toString());
      } else if (type instanceof StringType) {
        String text = value(bound).toString();
        boolean isTime = !isWhole(text) && SessionTime.utc(text).isPresent();
        options.put(isTime ? time : version, text);
      } else if (type instanceof TimestampType
          || type instanceof TimestampNTZType
          || type instanceof DateType) {
        String zone = SQLConf.get().sessionLocalTimeZone();
        Cast moment = new Cast(bound, TimestampType$.MODULE$, Option.apply(zone));
        options.put(time, SessionTime.utc((Long) value(moment)));
      } else {
        throw ColonnadeException.invalid(
            "A bound of function %s must be an epoch, a time or a tag, and not of type %s.",
            name, type.sql());
      }
    }

    /** Returns the value of an argument that no row decides. */
    private Object value(Expression argument) {
      // So Spark's optimizer replaces current_timestamp() and the like, which have no value yet.
      LogicalPlan plan = new Filter(argument, new OneRowRelation());
      plan = ComputeCurrentTime$.MODULE$.apply(ReplaceExpressions$.MODULE$.apply(plan));
      Expression constant = ((Filter) plan).condition();
      if (!constant.foldable()) {
        throw ColonnadeException.invalid(
            "The arguments of function %s must be constants, and %s is not.", name, argument.sql());
      }
      Object found = constant.eval(null);
      if (found == null) {
        throw ColonnadeException.invalid(
            "The arguments of function %s must not be NULL, and %s is.", name, argument.sql());
      }
      return found;
    }
  }

  private static boolean isWhole(String text) {
    return text.strip().chars().allMatch(Character::isDigit);
  }

  /** Gives the functions to new sessions. */
  public static void inject(SparkSessionExtensions extensions) {
    ALL.forEach(each -> inject(each, extensions));
  }

  private static void inject(ChangesFunction each, SparkSessionExtensions extensions) {
    ExpressionInfo info = new ExpressionInfo(ChangesFunctions.class.getName(), each.name);
    FunctionIdentifier name = new FunctionIdentifier(each.name);
    extensions.injectTableFunction(new Tuple3<>(name, info, each::plan));
  }

  /** Gives the functions to the session of this thread, unless it has functions of these names. */
  public static void use() {
    TableFunctionRegistry functions = SparkSession.active().sessionState().tableFunctionRegistry();
    Set<String> known =
        CollectionConverters.asJava(functions.listFunction()).stream()
            .map(FunctionIdentifier::funcName)
            .collect(Collectors.toSet());
    // An extension knows in which namespace of Spark a version keeps such functions.
    SparkSessionExtensions missing = new SparkSessionExtensions();
    ALL.stream().filter(each -> !known.contains(each.name)).forEach(each -> inject(each, missing));
    missing.registerTableFunctions(functions);
  }

  private static String pathOfName(String name) {
    LogicalPlan analyzed = SparkSession.active().table(name).queryExecution().analyzed();
    return NamedTables.relation(analyzed)
        .filter(found -> found.table() instanceof TableAtEpoch)
        .map(found -> ((TableAtEpoch) found.table()).path())
        .orElseThrow(
            () ->
                ColonnadeException.invalid(
                    "Function table_changes reads the changes of Colonnade tables, and %s is not"
                        + " one.",
                    name));
  }

  private static String absolute(String path) {
    if (UserPath.isRelative(path)) {
      throw ColonnadeException.invalid("Path %s is relative; write it from the root.", path);
    }
    return path;
  }
}
