package colonnade.spark.quirks.expressions;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.TableAtEpoch;
import colonnade.write.columns.ColumnRewrite;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The values of one column of a table, as SQL text that only Spark can evaluate.
 *
 * <p>A value is converted to the type of its column as in an INSERT, in every session. A value that
 * a constraint of the table does not allow fails the query.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code Project} over {@code DataSourceV2Relation}, {@code
 * Cast.canANSIStoreAssign} and {@code CharVarcharUtils.stringLengthCheck}.
 */
public final class ColumnValues {
  private static final String ALWAYS = "true";

  private final String column;
  private final DataType type;
  private final boolean isNew;
  private final String value;
  private final String condition;

  /**
   * Describes values.
   *
   * @param isNew whether the table does not have the column yet
   * @param condition which rows get a value; null for all
   */
  public ColumnValues(
      String column, DataType type, boolean isNew, String value, String condition) {
    this.column = column;
    this.type = type;
    this.isNew = isNew;
    this.value = value;
    this.condition = condition;
  }

  /** Reads the type of a new column, which is DDL such as {@code int NOT NULL COMMENT 'why'}. */
  public static StructField parseType(String column, String type) {
    try {
      return StructType.fromDDL("c " + type).fields()[0];
    } catch (Exception error) {
      refuseUnparsed(column, "has no type '" + type + "'", error);
      throw error;
    }
  }

  /** Whether all rows get a value. */
  public boolean isOfAllRows() {
    return condition == null;
  }

  /**
   * Returns the columns of the table that decide the values, or whether a constraint allows them.
   * Refuses what cannot be evaluated.
   */
  public List<String> reads(TableAtEpoch table) {
    Project plan = values(table);
    Set<ExprId> used = new HashSet<>();
    plan.references().toSeq().foreach(each -> used.add(each.exprId()));
    checks(table, plan).reads().forEach(each -> used.add(each.exprId()));
    List<String> own = List.of(table.schema().fieldNames());
    List<String> names = new ArrayList<>();
    for (Attribute each : CollectionConverters.asJava(plan.child().output())) {
      if (used.contains(each.exprId()) && own.contains(each.name())) {
        names.add(each.name());
      }
    }
    return names;
  }

  /** Runs a query for the rows that get a value, and returns the ids of their RowSets. */
  public Set<Long> findRowSets(TableAtEpoch table) {
    Dataset<Row> rows = Dataset.ofRows(SparkSession.active(), newRelation(table));
    Set<Long> found = new HashSet<>();
    for (Row row :
        rows.where(condition)
            .select(rowset(TableAtEpoch.ROW_HANDLER))
            .distinct()
            .collectAsList()) {
      found.add(row.getLong(0));
    }
    return found;
  }

  /**
   * Has tasks write the column of RowSets, and returns their reports.
   *
   * @param table these RowSets of the table, each read by one task
   * @param jobJson the job of {@link ColumnRewrite}
   * @param rowsetsJson the RowSets, as {@link ColumnRewrite} takes them
   */
  public List<String> write(
      TableAtEpoch table,
      String jobJson,
      String rowsetsJson,
      Map<String, String> hadoopConf) {
    Project plan = values(table);
    Dataset<Row> rows = Dataset.ofRows(SparkSession.active(), checks(table, plan).in(plan));
    ColumnRewrite rewrite =
        new ColumnRewrite(jobJson, rowsetsJson, rows.schema(), hadoopConf, false);
    return rewrite.of(rows.queryExecution().toRdd().toJavaRDD()).reports();
  }

  private static Column rowset(String handler) {
    return functions.shiftrightunsigned(functions.col(handler), 32);
  }

  private static DataSourceV2Relation newRelation(TableAtEpoch table) {
    return DataSourceV2Relation.create(table, Option.empty(), Option.empty());
  }

  /** Whether a plan is the table, or the table with char columns padded, as Spark reads them. */
  private static boolean isRowByRow(LogicalPlan plan) {
    return plan instanceof Project project
        ? isRowByRow(project.child())
        : plan instanceof DataSourceV2Relation;
  }

  /** Returns the constraints that new values must meet. A column to add has none yet. */
  private ColumnChecks checks(TableAtEpoch table, Project plan) {
    return isNew ? ColumnChecks.NONE : ColumnChecks.of(table, plan.child(), old(plan));
  }

  private Project values(TableAtEpoch table) {
    String met = condition == null ? ALWAYS : "coalesce((" + condition + "), false)";
    LogicalPlan analyzed = analyzed(newRelation(table), met);
    if (!(analyzed instanceof Project plan) || !isRowByRow(plan.child())) {
      throw refused("is computed from the columns of one row; use no aggregates, windows or EXPLODE");
    }
    List<NamedExpression> given = CollectionConverters.asJava(plan.projectList());
    Expression changed = ((Alias) given.get(1)).child();
    if (!changed.deterministic()) {
      throw refused("is filled where a condition holds, which must be deterministic");
    }
    Expression filled = stored(((Alias) given.get(2)).child());
    if (condition != null && !isNew) {
      filled = new If(changed, filled, old(plan));
    }
    Seq<NamedExpression> list =
        seq(List.of(given.get(0), given.get(1), named(filled)));
    return new Project(list, plan.child());
  }

  private LogicalPlan analyzed(LogicalPlan relation, String met) {
    try {
      return Dataset.ofRows(SparkSession.active(), relation)
          .selectExpr(
              TableAtEpoch.ROW_HANDLER + " AS handler",
              met + " AS changed",
              "(" + value + ") AS value")
          .logicalPlan();
    } catch (Exception error) {
      refuseUnparsed(column, "cannot be computed", error);
      throw error;
    }
  }

  /** Refuses text that Spark cannot parse. Spark's own message begins with a blank line. */
  private static void refuseUnparsed(String column, String why, Exception error) {
    if (error instanceof ParseException parse) {
      String sentence = parse.getSimpleMessage().strip().lines().findFirst().orElse("");
      throw ColonnadeException.invalid("Column '" + column + "' " + why + ": " + sentence);
    }
  }

  /** Returns a value in the type of the column, with its length checked. */
  private Expression stored(Expression given) {
    DataType plain = CharVarcharUtils.replaceCharVarcharWithString(type);
    if (!Cast.canANSIStoreAssign(given.dataType(), plain)) {
      throw refused(
          "is " + type.sql() + " and cannot be computed as " + given.dataType().sql()
              + "; cast the expression");
    }
    Expression cast = given;
    if (!given.dataType().equals(plain)) {
      Option<String> zone =
          Option.apply(SparkSession.active().sessionState().conf().sessionLocalTimeZone());
      cast = new Cast(given, plain, zone, EvalMode.ANSI());
    }
    return plain.equals(type) ? cast : CharVarcharUtils.stringLengthCheck(cast, type);
  }

  private Attribute old(Project plan) {
    return CollectionConverters.asJava(plan.child().output()).stream()
        .filter(each -> each.name().equals(column))
        .findFirst()
        .orElseThrow();
  }

  private static NamedExpression named(Expression value) {
    return new Alias(
        value,
        "value",
        NamedExpression$.MODULE$.newExprId(),
        seq(),
        Option.empty(),
        seq());
  }

  private RuntimeException refused(String why) {
    return ColonnadeException.invalid("Column '" + column + "' " + why + ".");
  }
}
