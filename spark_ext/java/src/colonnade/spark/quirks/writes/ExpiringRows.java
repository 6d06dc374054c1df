package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.Planner;
import colonnade.planner.messages.Writes;
import colonnade.planner.messages.Writes.Expiring;
import colonnade.spark.table.GeneratedColumn;
import colonnade.spark.table.TableAtEpoch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * New rows of a write with the option {@code ttl}: the column that says when a row expires gets that
 * time where a row has NULL in it. The column has a mark that it is filled, so that a write without
 * this is refused.
 *
 * <p>Seen on Spark 4.1 and 4.3: the options of {@code INSERT … WITH (…)} are those of its table,
 * and the options of a DataFrame's write are those of {@code V2WriteCommand}.
 */
final class ExpiringRows {
  private static final String TTL = "ttl";

  private ExpiringRows() {}

  /** Whether the options of a write say how long its rows live. */
  static boolean areAskedFor(V2WriteCommand write) {
    return write.table() instanceof DataSourceV2Relation relation
        && relation.table() instanceof TableAtEpoch
        && options(write, relation).containsKey(TTL);
  }

  /** Returns the rows of such a write with the time at which they expire. */
  static LogicalPlan of(V2WriteCommand write, LogicalPlan rows) {
    DataSourceV2Relation relation = (DataSourceV2Relation) write.table();
    TableAtEpoch table = (TableAtEpoch) relation.table();
    Expiring expiry =
        Planner.call(
            new Writes.ExpiringRows(
                table.path(), table.view(), options(write, relation)));
    String column = expiry.column();
    List<NamedExpression> list = new ArrayList<>();
    for (Attribute each : CollectionConverters.asJava(rows.output())) {
      boolean expires = each.name().equalsIgnoreCase(column);
      list.add(expires ? filled(each, column, expiry.stored()) : each);
    }
    return new Project(seq(list), rows);
  }

  private static Map<String, String> options(
      V2WriteCommand write, DataSourceV2Relation relation) {
    Map<String, String> all = new HashMap<>(relation.options());
    all.putAll(EvolvingWrites.options(write));
    return all;
  }

  private static NamedExpression filled(Attribute given, String name, long stored) {
    Object value = stored;
    if (given.dataType().equals(DataTypes.DateType)) {
      value = (int) stored;
    }
    Expression time = Literal.create(value, given.dataType());
    return new Alias(
        new Coalesce(seq(List.<Expression>of((Expression) given, time))),
        name,
        NamedExpression$.MODULE$.newExprId(),
        seq(),
        Option.apply(GeneratedColumn.computed(given.metadata())),
        seq());
  }
}
