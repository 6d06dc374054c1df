package colonnade.spark.catalog;

import colonnade.planner.Planner;
import colonnade.spark.quirks.reads.CachedReads;
import colonnade.spark.sink.ColumnFill;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.procedures.BoundProcedure;
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter;
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** A procedure of the planner in the form that Spark calls. */
final class ColonnadeProcedure implements UnboundProcedure, BoundProcedure {
  private static final String ADD_COLUMN = "add_column";
  private static final String ADD_STATIC_COLUMN = "add_static_column";
  private static final String BACKFILL = "backfill";

  /**
   * The procedures after which Spark must read its cached queries again. {@code refresh} does
   * nothing else.
   */
  private static final Set<String> CHANGING_ROWS =
      Set.of(
          "commit", "rollback", "repair", "restore", "refresh", ADD_COLUMN, ADD_STATIC_COLUMN,
          BACKFILL);

  private final String name;
  private final JsonNode description;
  private final Map<String, UnaryOperator<String>> paths;

  /**
   * Creates a procedure. {@code description} comes from the planner; {@code paths} maps an argument
   * that is a table name to the path of the table.
   */
  ColonnadeProcedure(
      String name, JsonNode description, Map<String, UnaryOperator<String>> paths) {
    this.name = name;
    this.description = description;
    this.paths = paths;
  }

  /** Returns the descriptions of all procedures by name. */
  static JsonNode descriptions() {
    return Planner.call("procedures", Map.of());
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return description.get("description").asText();
  }

  @Override
  public BoundProcedure bind(StructType inputType) {
    return this;
  }

  @Override
  public boolean isDeterministic() {
    return false;
  }

  @Override
  public ProcedureParameter[] parameters() {
    List<ProcedureParameter> parameters = new ArrayList<>();
    for (JsonNode parameter : description.get("parameters")) {
      ProcedureParameter.Builder builder =
          ProcedureParameter.in(parameter.get("name").asText(), type(parameter))
              .comment(parameter.get("description").asText());
      if (parameter.get("optional").asBoolean()) {
        builder.defaultValue("NULL");
      }
      parameters.add(builder.build());
    }
    return parameters.toArray(ProcedureParameter[]::new);
  }

  private static DataType type(JsonNode parameter) {
    return DataType.fromDDL(parameter.get("type").asText());
  }

  @Override
  public Iterator<Scan> call(InternalRow input) {
    Map<String, Object> arguments = new HashMap<>();
    int at = 0;
    for (JsonNode parameter : description.get("parameters")) {
      String argument = parameter.get("name").asText();
      Object value = input.isNullAt(at) ? null : input.get(at, type(parameter));
      if (value instanceof UTF8String text) {
        value = paths.getOrDefault(argument, UnaryOperator.identity()).apply(text.toString());
      }
      arguments.put(argument, value);
      at++;
    }
    JsonNode result;
    try {
      result = run(arguments);
    } finally {
      if (name.equals("commit") || name.equals("rollback")) {
        SparkSession.active().conf().unset(Planner.TRANSACTION); // over, whatever came of it
      }
      if (CHANGING_ROWS.contains(name)) {
        CachedReads.refreshAll();
      }
    }
    if (name.equals("begin")) {
      String transaction = result.get("rows").get(0).get(0).asText();
      SparkSession.active().conf().set(Planner.TRANSACTION, transaction);
    }
    StructType schema = StructType.fromDDL(description.get("schema").asText());
    return List.<Scan>of(new LocalRows(schema, result.get("rows"))).iterator();
  }

  private JsonNode run(Map<String, Object> arguments) {
    UnaryOperator<String> text = argument -> (String) arguments.get(argument);
    return switch (name) {
      case ADD_COLUMN ->
          ColumnFill.add(
              text.apply("table"), text.apply("name"), text.apply("type"),
              text.apply("expression"));
      case ADD_STATIC_COLUMN -> {
        StructType column = ColumnFill.column(text.apply("name"), text.apply("type"));
        arguments.put("type", column.json());
        yield callPlanner(arguments);
      }
      case BACKFILL ->
          ColumnFill.fill(
              text.apply("table"), text.apply("column"), text.apply("expression"),
              text.apply("where"));
      default -> callPlanner(arguments);
    };
  }

  private JsonNode callPlanner(Map<String, Object> arguments) {
    return Planner.callOnce("call_procedure", Map.of("name", name, "arguments", arguments));
  }
}
