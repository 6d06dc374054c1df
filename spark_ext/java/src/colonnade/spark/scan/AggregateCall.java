package colonnade.spark.scan;

import colonnade.read.TaskAggregate.Function;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.Count;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.aggregate.Max;
import org.apache.spark.sql.connector.expressions.aggregate.Min;
import org.apache.spark.sql.connector.expressions.aggregate.Sum;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * A function over all rows of a table, as a query asks it.
 *
 * @param text as Spark shows it
 * @param column the argument; null for count(*)
 */
record AggregateCall(String text, Function function, StructField column) {

  /**
   * The calls of an aggregation; none where it has groups (as a DISTINCT has, without functions),
   * or asks for another function, for different values only, or for more than a column.
   */
  static List<AggregateCall> of(Aggregation aggregation, StructType schema) {
    List<AggregateCall> calls = new ArrayList<>();
    for (AggregateFunc function : aggregation.aggregateExpressions()) {
      AggregateCall call = of(function, schema);
      if (call == null || aggregation.groupByExpressions().length > 0) {
        return List.of();
      }
      calls.add(call);
    }
    return calls;
  }

  private static AggregateCall of(AggregateFunc call, StructType schema) {
    String text = call.toString();
    if (call instanceof CountStar) {
      return new AggregateCall(text, Function.COUNT, null);
    }
    Function function = function(call);
    StructField column = function == null ? null : column(call.children()[0], schema);
    return column == null ? null : new AggregateCall(text, function, column);
  }

  private static Function function(AggregateFunc call) {
    if (call instanceof Count count && !count.isDistinct()) {
      return Function.COUNT;
    }
    if (call instanceof Sum sum && !sum.isDistinct()) {
      return Function.SUM;
    }
    if (call instanceof Min) {
      return Function.MIN;
    }
    return call instanceof Max ? Function.MAX : null;
  }

  /** The column that an expression is; null where it is more, or one beside the table's own. */
  static StructField column(Expression argument, StructType schema) {
    return argument instanceof NamedReference reference
            && reference.fieldNames().length == 1
            && schema.getFieldIndex(reference.fieldNames()[0]).isDefined()
        ? schema.apply(reference.fieldNames()[0])
        : null;
  }
}
