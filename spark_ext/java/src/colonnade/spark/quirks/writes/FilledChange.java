package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.ColonnadeException;
import colonnade.spark.table.GeneratedColumn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.ProjectingInternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.util.WriteDeltaProjections;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * An UPDATE or MERGE with generated columns computed. Where the statement keeps the old value of
 * one, it gets NULL first, which means that it is not given.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code WriteDelta} over a {@code Project}, which is an UPDATE, or
 * over {@code MergeRows}, whose {@code Keep} has a condition and the columns of a row. Spark 4.3 adds
 * a part to {@code WriteDelta}, so it is copied by its parts.
 */
final class FilledChange {
  private final WriteDelta change;
  private final GeneratedColumn.Owner owner;
  private final Map<String, Integer> places = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

  FilledChange(WriteDelta change, GeneratedColumn.Owner owner) {
    this.change = change;
    this.owner = owner;
  }

  /** Returns the statement. A DELETE writes no columns, so it stays unchanged. */
  LogicalPlan plan() {
    if (change.projections().rowProjection().isEmpty()) {
      return change;
    }
    ProjectingInternalRow row = change.projections().rowProjection().get();
    for (int at = 0; at < row.numFields(); at++) {
      places.put(row.schema().fields()[at].name(), (Integer) row.colOrdinals().apply(at));
    }
    LogicalPlan rows = new FilledRows(owner, places).of(change.query(), this::withoutOldValues);
    Object[] parts = new Object[change.productArity()];
    for (int at = 0; at < parts.length; at++) {
      Object part = change.productElement(at);
      parts[at] =
          part == change.query()
              ? rows
              : part == change.projections() ? markedAsComputed(row) : part;
    }
    return change.makeCopy(parts);
  }

  private WriteDeltaProjections markedAsComputed(ProjectingInternalRow row) {
    StructField[] fields = row.schema().fields().clone();
    for (GeneratedColumn column : owner.generated()) {
      int at = row.schema().fieldIndex(column.column());
      StructField field = fields[at];
      fields[at] =
          new StructField(
              field.name(),
              field.dataType(),
              field.nullable(),
              GeneratedColumn.computed(field.metadata()));
    }
    return change
        .projections()
        .copy(
            Option.apply(new ProjectingInternalRow(new StructType(fields), row.colOrdinals())),
            change.projections().rowIdProjection(),
            change.projections().metadataProjection());
  }

  private LogicalPlan withoutOldValues(LogicalPlan rows) {
    Map<Integer, Attribute> old = new HashMap<>();
    for (Attribute column : asJava(((LogicalPlan) change.originalTable()).output())) {
      if (isGenerated(column.name())) {
        old.put(places.get(column.name()), column);
      }
    }
    if (rows instanceof Project update) {
      List<NamedExpression> list = new ArrayList<>(asJava(update.projectList()));
      old.forEach((at, column) -> list.set(at, notSet(list.get(at), column)));
      return new Project(seq(list), update.child());
    }
    if (!(rows instanceof MergeRows)) {
      throw new IllegalStateException("Spark plans a change of rows as " + rows.nodeName() + ".");
    }
    return rows.transformExpressions(new Unset(old));
  }

  private boolean isGenerated(String name) {
    return owner.generated().stream().anyMatch(each -> each.column().equalsIgnoreCase(name));
  }

  private static boolean isOld(Expression value, Attribute column) {
    return bare(value) instanceof Attribute read && read.exprId().equals(column.exprId());
  }

  /** Returns a value without its names; Spark names a value that is set twice. */
  private static Expression bare(Expression value) {
    return value instanceof Alias alias ? bare(alias.child()) : value;
  }

  private static Literal none(Expression value) {
    return Literal.create(null, value.dataType());
  }

  /** Returns NULL for a column that an UPDATE does not set, and refuses one that it sets. */
  private NamedExpression notSet(NamedExpression given, Attribute column) {
    Expression value = bare((Expression) given);
    boolean isNull = value.foldable() && value.eval(null) == null;
    if (!isOld(value, column) && !isNull) {
      throw ColonnadeException.invalid(
          "Column '%s' of table '%s' is generated, so UPDATE cannot set it; set the columns that"
              + " it follows from, and it is computed.",
          column.name(), owner.tableName());
    }
    return new Alias(
        none(value),
        given.name(),
        NamedExpression$.MODULE$.newExprId(),
        seq(),
        Option.apply(given.metadata()),
        seq());
  }

  /** Gives NULL to columns of the rows of a MERGE that would keep their old values. */
  private static final class Unset extends AbstractPartialFunction<Expression, Expression> {
    private final Map<Integer, Attribute> old;

    Unset(Map<Integer, Attribute> old) {
      this.old = old;
    }

    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof MergeRows.Keep;
    }

    @Override
    public Expression apply(Expression expression) {
      MergeRows.Keep keep = (MergeRows.Keep) expression;
      List<Expression> row = new ArrayList<>(asJava(keep.output()));
      old.forEach(
          (at, column) -> {
            if (isOld(row.get(at), column)) {
              row.set(at, none(row.get(at)));
            }
          });
      return keep.copy(keep.context(), keep.condition(), seq(row));
    }
  }

  private static <T> List<T> asJava(Seq<T> values) {
    return CollectionConverters.asJava(values);
  }
}
