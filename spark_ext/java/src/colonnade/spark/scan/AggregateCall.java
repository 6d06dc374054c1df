package colonnade.spark.scan;

import colonnade.read.aggregates.TaskAggregate.Function;
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
 * An aggregate function that a query applies to all rows of a table.
 *
 * @param text the call as Spark shows it
 * @param column the argument; null for count(*)
 */
record AggregateCall(String text, Function function, StructField column) {

  /**
   * Returns the calls of an aggregation. Returns an empty list if it has groups, an unsupported
   * function, a DISTINCT, or an argument that is not a column. A DISTINCT without functions has
   * groups too.
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

  /**
   * Returns the column that an expression names. Returns null for any other expression and for a
   * column that is not in {@code schema}.
   */
  static StructField column(Expression argument, StructType schema) {
    return argument instanceof NamedReference reference
            && reference.fieldNames().length == 1
            && schema.getFieldIndex(reference.fieldNames()[0]).isDefined()
        ? schema.apply(reference.fieldNames()[0])
        : null;
  }
}
