package colonnade.spark.quirks.expressions;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.table.GeneratedColumn;
import colonnade.write.refusals.Refusal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.AtomicType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The expression of a generated column, resolved. It means the same in every session: ANSI mode,
 * names in any case, and the time zone of the column.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code LocalRelation}, {@code SQLConf.withExistingConf}, {@code
 * CURRENT_LIKE}, {@code CatalystSqlParser}, {@code StaticInvoke} and {@code CharVarcharUtils.stringLengthCheck}.
 */
public final class ComputedExpression {
  private final String table;
  private final GeneratedColumn column;
  private final StructType schema;
  private final DataType type;

  /**
   * @param table the name of the table, for messages
   * @param schema its columns as declared, with char and varchar
   */
  public ComputedExpression(String table, GeneratedColumn column, StructType schema) {
    this.table = table;
    this.column = column;
    this.schema = schema;
    this.type = schema.apply(column.column()).dataType();
  }

  /** Whether the value also depends on who asks, when and where, as that of current_date() does. */
  public boolean isOfSession() {
    return of(nothing()).containsPattern(TreePattern.CURRENT_LIKE());
  }

  private Map<String, Expression> nothing() {
    Map<String, Expression> row = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (StructField field : schema.fields()) {
      row.put(field.name(), Literal.create(null, plain(field.dataType())));
    }
    return row;
  }

  /** Returns the value of the column in a row with these values, in the type of the column. */
  private Expression of(Map<String, Expression> row) {
    Expression value = resolved(fields(), List.of("(" + column.sql() + ")"), row).get(0);
    DataType wanted = plain(type);
    if (!value.dataType().equals(wanted)) {
      value = new Cast(value, wanted, Option.apply(column.timeZone()), EvalMode.ANSI());
    }
    return wanted.equals(type) ? value : CharVarcharUtils.stringLengthCheck(value, type);
  }

  /**
   * Returns the value of the column in a row with these values. The evaluation fails if the row has
   * another value in the column, and not NULL.
   */
  public Expression checked(Map<String, Expression> row) {
    String computed = unusedName();
    List<StructField> fields = fields();
    fields.add(StructField.apply(computed, plain(type), true, Metadata.empty()));
    String given = quoted(column.column());
    String same = String.format("%1$s IS NULL OR %1$s <=> %2$s", given, quoted(computed));
    Expression value = of(row);
    Map<String, Expression> values = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    values.putAll(row);
    values.put(computed, value);
    List<Expression> found = resolved(fields, List.of(same, message()), values);
    Expression fits = new Or(found.get(0), refusal(found.get(1)));
    return new If(fits, value, Literal.create(null, value.dataType()));
  }

  private static Expression refusal(Expression message) {
    return new StaticInvoke(
        ComputedExpression.class,
        DataTypes.BooleanType,
        "refuse",
        seq(List.of(message)),
        seq(List.of(DataTypes.StringType)),
        false,
        false,
        true,
        Option.empty());
  }

  /** Fails with a sentence. Spark calls it for a row with another value. */
  public static boolean refuse(UTF8String sentence) {
    throw Refusal.invalid(sentence.toString());
  }

  private String message() {
    List<String> shown = new ArrayList<>(column.reads());
    shown.add(column.column());
    String title =
        String.format(
            "Column '%s' of table '%s', generated as %s, has another value in a row with ",
            column.column(), table, column.sql());
    StringBuilder text = new StringBuilder("concat(").append(literal(title));
    String separator = "";
    for (String name : shown) {
      text.append(", ").append(literal(separator + name + " = ")).append(", ").append(shown(name));
      separator = ", ";
    }
    String end =
        "; no row was written. Leave the column out, or give NULL, and it is computed.";
    return text.append(", ").append(literal(end)).append(")").toString();
  }

  private String shown(String name) {
    DataType kind = plain(schema.apply(name).dataType());
    boolean isText = kind instanceof AtomicType && !(kind instanceof VariantType);
    return isText ? "coalesce(left(CAST(" + quoted(name) + " AS STRING), 100), 'NULL')" : "'...'";
  }

  private static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  private static String literal(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }

  private String unusedName() {
    String name = "computed";
    while (nothing().containsKey(name)) {
      name += "_";
    }
    return name;
  }

  private List<StructField> fields() {
    List<StructField> fields = new ArrayList<>();
    for (StructField field : schema.fields()) {
      fields.add(StructField.apply(field.name(), plain(field.dataType()), true, Metadata.empty()));
    }
    return fields;
  }

  private static DataType plain(DataType declared) {
    return CharVarcharUtils.replaceCharVarcharWithString(declared);
  }

  /** Resolves texts over columns with these values. */
  private List<Expression> resolved(
      List<StructField> fields, List<String> texts, Map<String, Expression> values) {
    SparkSession session = SparkSession.active();
    SQLConf conf = session.sessionState().conf().clone();
    conf.setConfString("spark.sql.session.timeZone", column.timeZone());
    conf.setConfString("spark.sql.ansi.enabled", "true");
    conf.setConfString("spark.sql.caseSensitive", "false");
    List<Attribute> output = new ArrayList<>();
    Map<ExprId, Expression> replaced = new HashMap<>();
    for (StructField field : fields) {
      ExprId id = NamedExpression$.MODULE$.newExprId();
      String name = field.name();
      Metadata none = Metadata.empty();
      output.add(new AttributeReference(name, field.dataType(), true, none, id, seq()));
      replaced.put(id, values.get(name));
    }
    LocalRelation rows = new LocalRelation(seq(output), seq(), false, Option.empty());
    Project plan =
        (Project) SQLConf.withExistingConf(conf, () -> analyzed(session, texts, rows));
    return CollectionConverters.asJava(plan.projectList()).stream()
        .map(found -> found instanceof Alias alias ? alias.child() : (Expression) found)
        .map(found -> ColumnMapping.in(found, replaced))
        .toList();
  }

  /** Parses here, because a Dataset parses with the settings of its session. */
  private static LogicalPlan analyzed(SparkSession session, List<String> texts, LogicalPlan rows) {
    List<NamedExpression> list = new ArrayList<>();
    for (String text : texts) {
      Expression parsed = CatalystSqlParser$.MODULE$.parseExpression(text);
      list.add(
          new Alias(
              parsed,
              "value",
              NamedExpression$.MODULE$.newExprId(),
              seq(),
              Option.empty(),
              seq()));
    }
    return Dataset.ofRows(session, new Project(seq(list), rows)).logicalPlan();
  }
}
