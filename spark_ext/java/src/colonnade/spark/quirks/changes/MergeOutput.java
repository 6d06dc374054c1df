package colonnade.spark.quirks.changes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.ProjectingInternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows;
import org.apache.spark.sql.catalyst.plans.logical.MergeRows$;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.catalyst.util.RowDeltaUtils;
import org.apache.spark.sql.catalyst.util.WriteDeltaProjections;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What each column of the rows is that a MERGE makes, and the same rows in a narrow form.
 *
 * <p>The rows have the number of an operation, the columns of the table, and the handler of the row
 * that changes. Narrow rows have the columns {@link #OPERATION}, {@code handler}, those that the
 * statement sets, and {@link #INSERTED}: all columns of a new row as a struct, else NULL. The set
 * columns are NULL unless the operation is an update.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code MergeRows}, whose {@code Keep} has a condition and the columns
 * of a row, and {@code WriteDeltaProjections}, which tell the places of columns.
 *
 * @param merge the rows
 * @param columns the columns of the table that is read, in its order
 * @param places where the rows have these columns
 * @param handler where they have the handler
 * @param set which of the columns the statement sets, as indexes
 */
record MergeOutput(
    MergeRows merge,
    List<Attribute> columns,
    List<Integer> places,
    int handler,
    List<Integer> set) {
  static final String OPERATION = "operation";
  static final String INSERTED = "inserted";
  static final int UPDATE = RowDeltaUtils.UPDATE_OPERATION();

  private static final Set<Integer> KNOWN =
      Set.of(RowDeltaUtils.DELETE_OPERATION(), UPDATE, RowDeltaUtils.INSERT_OPERATION());

  /** Returns nothing for rows of another form, and for a statement that sets no column. */
  static Optional<MergeOutput> of(WriteDelta statement, MergeRows merge, List<Attribute> columns) {
    WriteDeltaProjections parts = statement.projections();
    boolean known =
        parts.rowProjection().isDefined()
            && parts.metadataProjection().isEmpty()
            && parts.rowIdProjection().numFields() == 1
            && merge.output().size() == columns.size() + 2
            && merge.output().head().name().equals(RowDeltaUtils.OPERATION_COLUMN())
            && asJava(merge.instructions()).stream().allMatch(MergeOutput::isKnown);
    if (!known) {
      return Optional.empty();
    }
    ProjectingInternalRow row = parts.rowProjection().get();
    List<Integer> places = new ArrayList<>();
    for (int at = 0; at < row.numFields(); at++) {
      if (!row.schema().fields()[at].name().equals(columns.get(at).name())) {
        return Optional.empty();
      }
      places.add((Integer) row.colOrdinals().apply(at));
    }
    int handler = (Integer) parts.rowIdProjection().colOrdinals().apply(0);
    MergeOutput whole = new MergeOutput(merge, columns, places, handler, List.of());
    List<Integer> set = new ArrayList<>();
    for (int at = 0; at < columns.size(); at++) {
      if (whole.sets(at)) {
        set.add(at);
      }
    }
    return set.isEmpty()
        ? Optional.empty()
        : Optional.of(new MergeOutput(merge, columns, places, handler, set));
  }

  private static boolean isKnown(MergeRows.Instruction instruction) {
    return instruction instanceof MergeRows.Discard
        || instruction instanceof MergeRows.Keep keep
            && keep.output().head() instanceof Literal number
            && KNOWN.contains(number.value());
  }

  static int operation(MergeRows.Keep keep) {
    return (Integer) ((Literal) keep.output().head()).value();
  }

  private boolean sets(int column) {
    return asJava(merge.instructions()).stream()
        .anyMatch(
            each ->
                each instanceof MergeRows.Keep keep
                    && operation(keep) == UPDATE
                    && !SetColumns.isSame(
                        keep.output().apply(places.get(column)), columns.get(column)));
  }

  /** Returns the columns of the rows that the statement sets. */
  List<Attribute> setColumns() {
    return set.stream().map(each -> merge.output().apply(places.get(each))).toList();
  }

  /** Returns the rows in their narrow form, from the rows of another join. */
  MergeRows narrow(LogicalPlan join) {
    List<Attribute> attributes = new ArrayList<>();
    attributes.add(newAttribute(OPERATION, DataTypes.IntegerType).withNullability(false));
    attributes.add(newAttribute(SetColumns.HANDLER, DataTypes.LongType));
    for (Attribute each : setColumns()) {
      attributes.add(newAttribute(value(attributes), each.dataType()));
    }
    attributes.add(newAttribute(INSERTED, insertedType()));
    Seq<MergeRows.Instruction> matched = narrow(merge.matchedInstructions());
    Seq<MergeRows.Instruction> missing = narrow(merge.notMatchedInstructions());
    Seq<MergeRows.Instruction> left = narrow(merge.notMatchedBySourceInstructions());
    Set<ExprId> read = new HashSet<>();
    addReferences(merge.isSourceRowPresent(), read);
    addReferences(merge.isTargetRowPresent(), read);
    for (Seq<MergeRows.Instruction> each : List.of(matched, missing, left)) {
      asJava(each).forEach(one -> addReferences((Expression) one, read));
    }
    List<NamedExpression> needed = new ArrayList<>();
    for (Attribute each : asJava(join.output())) {
      if (read.contains(each.exprId()) || each.name().equals(MergeRows$.MODULE$.ROW_ID())) {
        needed.add(each);
      }
    }
    return merge.copy(
        merge.isSourceRowPresent(),
        merge.isTargetRowPresent(),
        matched,
        missing,
        left,
        merge.checkCardinality(),
        SetColumns.seq(attributes),
        new Project(SetColumns.seq(needed), join));
  }

  /** Returns the name of the next value in a list of columns. */
  private static String value(List<?> before) {
    return "value" + before.size();
  }

  private Seq<MergeRows.Instruction> narrow(Seq<MergeRows.Instruction> instructions) {
    return SetColumns.seq(asJava(instructions).stream().map(this::narrow).toList());
  }

  private MergeRows.Instruction narrow(MergeRows.Instruction instruction) {
    if (!(instruction instanceof MergeRows.Keep keep)) {
      return instruction;
    }
    boolean inserts = operation(keep) == RowDeltaUtils.INSERT_OPERATION();
    List<Expression> row = new ArrayList<>();
    row.add(keep.output().head());
    row.add(inserts ? none(DataTypes.LongType) : keep.output().apply(handler));
    for (int each : set) {
      Expression value = keep.output().apply(places.get(each));
      row.add(operation(keep) == UPDATE ? value : none(value.dataType()));
    }
    row.add(inserts ? inserted(keep) : none(insertedType()));
    return keep.copy(keep.context(), keep.condition(), SetColumns.seq(row));
  }

  private Expression inserted(MergeRows.Keep keep) {
    List<Expression> parts = new ArrayList<>();
    for (int each : places) {
      parts.add(Literal.create(field(each), DataTypes.StringType));
      parts.add(keep.output().apply(each));
    }
    return new CreateNamedStruct(SetColumns.seq(parts));
  }

  private StructType insertedType() {
    StructType type = new StructType();
    for (int each : places) {
      type = type.add(field(each), merge.output().apply(each).dataType());
    }
    return type;
  }

  private static String field(int place) {
    return "c" + place;
  }

  /**
   * Returns rows in the form of {@link #merge}.
   *
   * @param from what the expressions read
   * @param row returns a column of the table by its index
   */
  Project whole(
      LogicalPlan from, Expression operation, Expression changed, IntFunction<Expression> row) {
    Expression[] values = new Expression[merge.output().size()];
    values[0] = operation;
    values[handler] = changed;
    for (int at = 0; at < columns.size(); at++) {
      values[places.get(at)] = row.apply(at);
    }
    List<NamedExpression> list = new ArrayList<>();
    for (Expression each : values) {
      list.add(SetColumns.alias(each, value(list), NamedExpression.newExprId()));
    }
    return new Project(SetColumns.seq(list), from);
  }

  /** Returns rows in the form of {@link #merge} with the very columns that it has. */
  Project named(LogicalPlan rows) {
    return named(rows, asJava(merge.output()));
  }

  /** Returns a plan whose columns get the names and ids of {@code as}, in the same order. */
  static Project named(LogicalPlan plan, List<Attribute> as) {
    List<NamedExpression> list = new ArrayList<>();
    for (Attribute each : as) {
      Attribute column = plan.output().apply(list.size());
      list.add(SetColumns.alias(column, each.name(), each.exprId()));
    }
    return new Project(SetColumns.seq(list), plan);
  }

  /** Returns the operation, the handler and the set columns of {@link #merge}. */
  List<Attribute> narrowColumns() {
    List<Attribute> narrow = new ArrayList<>();
    narrow.add(merge.output().head());
    narrow.add(merge.output().apply(handler));
    narrow.addAll(setColumns());
    return narrow;
  }

  private static void addReferences(Expression expression, Set<ExprId> read) {
    asJava(expression.references().toSeq()).forEach(each -> read.add(each.exprId()));
  }

  private static Attribute newAttribute(String name, DataType type) {
    return new AttributeReference(
        name,
        type,
        true,
        Metadata.empty(),
        NamedExpression.newExprId(),
        SetColumns.seq(List.of()));
  }

  private static Literal none(DataType type) {
    return Literal.create(null, type);
  }

  private static <T> List<T> asJava(Seq<T> values) {
    return CollectionConverters.asJava(values);
  }
}
