package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.quirks.expressions.ColumnMapping;
import colonnade.spark.quirks.expressions.ReadColumns;
import colonnade.write.RowCheck;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CheckInvariant;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.constraints.Check;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

/**
 * CHECK constraints that read identity columns. Spark checks rows before tasks give these columns
 * their values. So Spark is not told of such constraints, and tasks check each row when it has all
 * of its values.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code CheckInvariant}, which fails for FALSE and allows NULL, {@code
 * LocalRelation} and {@code FinishAnalysis}.
 */
public final class IdentityChecks {
  private IdentityChecks() {}

  /** Returns the constraints that Spark can check before rows have values of identity columns. */
  public static Constraint[] early(Constraint[] constraints, Column[] columns) {
    Set<String> identities = identities(columns);
    return Stream.of(constraints)
        .filter(each -> !reads(each, identities))
        .toArray(Constraint[]::new);
  }

  /**
   * Returns the checks of the other constraints.
   *
   * @param rows the columns of the rows that tasks get. They may lack identity columns, which tasks
   *     then add at the end, in the order of the table.
   */
  public static List<RowCheck> late(Constraint[] constraints, Column[] columns, StructType rows) {
    Set<String> identities = identities(columns);
    List<RowCheck> checks = new ArrayList<>();
    for (Constraint each : constraints) {
      if (reads(each, identities)) {
        checks.add(check((Check) each, complete(rows, columns)));
      }
    }
    return checks;
  }

  private static Set<String> identities(Column[] columns) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    Arrays.stream(columns)
        .filter(each -> each.identityColumnSpec() != null)
        .forEach(each -> names.add(each.name()));
    return names;
  }

  private static boolean reads(Constraint constraint, Set<String> identities) {
    return constraint instanceof Check check
        && !ReadColumns.of(check.predicateSql(), identities).isEmpty();
  }

  private static StructType complete(StructType rows, Column[] columns) {
    StructType complete = rows;
    for (Column each : columns) {
      if (each.identityColumnSpec() != null
          && Stream.of(rows.fieldNames()).noneMatch(each.name()::equalsIgnoreCase)) {
        complete = complete.add(each.name(), each.dataType());
      }
    }
    return complete;
  }

  private static RowCheck check(Check check, StructType rows) {
    SparkSession session = SparkSession.active();
    Project met =
        (Project)
            Dataset.ofRows(session, relation(rows))
                .selectExpr("(" + check.predicateSql() + ") AS met")
                .logicalPlan();
    LogicalPlan filter = new Filter(((Alias) met.projectList().head()).child(), met.child());
    Filter finished =
        (Filter) session.sessionState().optimizer().FinishAnalysis().apply(filter);
    List<Tuple2<String, Expression>> shown = new ArrayList<>();
    for (Attribute each :
        CollectionConverters.asJava(finished.condition().references().toSeq())) {
      shown.add(new Tuple2<>(each.name(), bound(each, rows)));
    }
    Expression condition =
        finished
            .condition()
            .transform(
                new ColumnMapping() {
                  @Override
                  public Expression column(AttributeReference column) {
                    return bound(column, rows);
                  }
                });
    CheckInvariant invariant =
        new CheckInvariant(
            condition,
            seq(shown),
            check.name(),
            check.predicateSql());
    return new RowCheck(invariant, check.predicateSql());
  }

  private static BoundReference bound(Attribute column, StructType rows) {
    return new BoundReference(ColumnMapping.place(rows, column.name()), column.dataType(), true);
  }

  private static LocalRelation relation(StructType rows) {
    List<Attribute> output = new ArrayList<>();
    for (StructField each : rows.fields()) {
      output.add(
          new AttributeReference(
              each.name(),
              each.dataType(),
              true,
              Metadata.empty(),
              NamedExpression$.MODULE$.newExprId(),
              seq()));
    }
    return new LocalRelation(
        seq(output), seq(), false, Option.empty());
  }
}
