package colonnade.spark.scan;

import colonnade.planner.Planner;
import colonnade.planner.messages.Queries;
import colonnade.read.aggregates.TaskAggregate.Function;
import colonnade.spark.table.BoundText;
import colonnade.spark.table.TableAtEpoch;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Aggregates over a whole table that the log answers exactly. The scan returns one row and runs no
 * task.
 */
public record AnsweredAggregation(String description, StructType readSchema, List<Object> values)
    implements LocalScan {

  /** Returns the values of all aggregates. Returns nothing if one of them requires reading rows. */
  static Optional<AnsweredAggregation> of(TableAtEpoch table, Aggregation aggregation) {
    List<AggregateCall> calls = AggregateCall.of(aggregation, table.schema());
    if (calls.isEmpty() || calls.stream().anyMatch(call -> call.function() == Function.SUM)) {
      return Optional.empty();
    }
    List<Queries.AggregateCall> functions = new ArrayList<>();
    StructType types = new StructType();
    for (AggregateCall call : calls) {
      functions.add(message(call));
      boolean counts = call.function() == Function.COUNT;
      types = types.add(call.text(), counts ? DataTypes.LongType : call.column().dataType());
    }
    List<JsonNode> answer =
        Planner.call(new Queries.Aggregate(table.view(), functions)).values();
    if (answer == null) {
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
    return answer.isNumber() ? (Object) answer.asLong() : BoundText.value(answer.asText(), type);
  }

  private static Queries.AggregateCall message(AggregateCall call) {
    String column = call.column() == null ? null : call.column().name();
    return new Queries.AggregateCall(call.function().name().toLowerCase(Locale.ROOT), column);
  }

  @Override
  public InternalRow[] rows() {
    return new InternalRow[] {new GenericInternalRow(values.toArray())};
  }
}
