package colonnade.source;

import colonnade.planner.Planner;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.aggregate.AggregateFunc;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.aggregate.Count;
import org.apache.spark.sql.connector.expressions.aggregate.CountStar;
import org.apache.spark.sql.connector.expressions.aggregate.Max;
import org.apache.spark.sql.connector.expressions.aggregate.Min;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Aggregates over a whole table whose exact values stand in the log: one row, no task. */
record AnsweredAggregation(String description, StructType readSchema, List<Object> values)
    implements LocalScan {

  /** The values of all the aggregates; empty where one of them takes reading rows. */
  static Optional<AnsweredAggregation> of(ColonnadeTable table, Aggregation aggregation) {
    if (aggregation.groupByExpressions().length > 0) { // also that of a DISTINCT, without functions
      return Optional.empty();
    }
    List<Map<String, Object>> functions = new ArrayList<>();
    StructType types = new StructType();
    for (AggregateFunc function : aggregation.aggregateExpressions()) {
      Question question = Question.of(function, table.schema());
      if (question == null) {
        return Optional.empty();
      }
      functions.add(question.json());
      types = types.add(function.toString(), question.type());
    }
    Map<String, Object> args = new HashMap<>(table.state());
    args.put("functions", functions);
    JsonNode answer = Planner.call("aggregate", args).get("values");
    if (answer.isNull()) {
      return Optional.empty();
    }
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < functions.size(); i++) {
      values.add(value(answer.get(i), types.apply(i).dataType()));
    }
    String description = table.describe() + " answered from the log: " + types.simpleString();
    return Optional.of(new AnsweredAggregation(description, types, values));
  }

  private static Object value(JsonNode answer, DataType type) {
    if (answer.isNull()) {
      return null;
    }
    return answer.isNumber() ? (Object) answer.asLong() : TaggedBound.value(answer.asText(), type);
  }

  @Override
  public InternalRow[] rows() {
    return new InternalRow[] {new GenericInternalRow(values.toArray())};
  }

  /** One aggregate as the planner is asked for it; {@code column} is null for count(*). */
  private record Question(String function, String column, DataType type) {

    static Question of(AggregateFunc function, StructType schema) {
      if (function instanceof CountStar) {
        return new Question("count", null, DataTypes.LongType);
      }
      if (function instanceof Count count && !count.isDistinct()) {
        return over("count", count.column(), schema, DataTypes.LongType);
      }
      if (function instanceof Min min) {
        return over("min", min.column(), schema, null);
      }
      return function instanceof Max max ? over("max", max.column(), schema, null) : null;
    }

    private static Question over(
        String function, Expression argument, StructType schema, DataType type) {
      if (!(argument instanceof NamedReference reference) || reference.fieldNames().length != 1) {
        return null;
      }
      String column = reference.fieldNames()[0];
      if (schema.getFieldIndex(column).isEmpty()) {
        return null;
      }
      return new Question(function, column, type == null ? schema.apply(column).dataType() : type);
    }

    Map<String, Object> json() {
      Map<String, Object> json = new HashMap<>();
      json.put("function", function);
      json.put("column", column == null ? null : List.of(column));
      return json;
    }
  }
}
