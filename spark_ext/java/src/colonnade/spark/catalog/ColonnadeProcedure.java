package colonnade.spark.catalog;

import colonnade.planner.Planner;
import colonnade.planner.messages.MessageJson;
import colonnade.planner.messages.Procedures.CallProcedure;
import colonnade.planner.messages.Procedures.ListProcedures;
import colonnade.planner.messages.Procedures.Parameter;
import colonnade.planner.messages.Procedures.Procedure;
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
  private final Procedure description;
  private final Map<String, UnaryOperator<String>> paths;

  /**
   * Creates a procedure. {@code description} comes from the planner; {@code paths} maps an argument
   * that is a table name to the path of the table.
   */
  ColonnadeProcedure(
      String name, Procedure description, Map<String, UnaryOperator<String>> paths) {
    this.name = name;
    this.description = description;
    this.paths = paths;
  }

  /** Returns the descriptions of all procedures by name. */
  static Map<String, Procedure> descriptions() {
    return Planner.call(new ListProcedures()).procedures();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String description() {
    return description.description();
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
    for (Parameter parameter : description.parameters()) {
      ProcedureParameter.Builder builder =
          ProcedureParameter.in(parameter.name(), type(parameter))
              .comment(parameter.description());
      if (parameter.optional()) {
        builder.defaultValue("NULL");
      }
      parameters.add(builder.build());
    }
    return parameters.toArray(ProcedureParameter[]::new);
  }

  private static DataType type(Parameter parameter) {
    return DataType.fromDDL(parameter.type());
  }

  @Override
  public Iterator<Scan> call(InternalRow input) {
    Map<String, JsonNode> arguments = new HashMap<>();
    int at = 0;
    for (Parameter parameter : description.parameters()) {
      String argument = parameter.name();
      Object value = input.isNullAt(at) ? null : input.get(at, type(parameter));
      if (value instanceof UTF8String text) {
        value = paths.getOrDefault(argument, UnaryOperator.identity()).apply(text.toString());
      }
      arguments.put(argument, MessageJson.tree(value));
      at++;
    }
    JsonNode rows;
    try {
      rows = run(arguments);
    } finally {
      if (name.equals("commit") || name.equals("rollback")) {
        SparkSession.active().conf().unset(Planner.TRANSACTION); // over, whatever came of it
      }
      if (CHANGING_ROWS.contains(name)) {
        CachedReads.refreshAll();
      }
    }
    if (name.equals("begin")) {
      String transaction = rows.get(0).get(0).asText();
      SparkSession.active().conf().set(Planner.TRANSACTION, transaction);
    }
    StructType schema = StructType.fromDDL(description.columns());
    return List.<Scan>of(new LocalRows(schema, rows)).iterator();
  }

  private JsonNode run(Map<String, JsonNode> arguments) {
    UnaryOperator<String> text = argument -> arguments.get(argument).textValue();
    return switch (name) {
      case ADD_COLUMN ->
          ColumnFill.add(
              text.apply("table"), text.apply("name"), text.apply("type"),
              text.apply("expression"));
      case ADD_STATIC_COLUMN -> {
        StructType column = ColumnFill.column(text.apply("name"), text.apply("type"));
        arguments.put("type", MessageJson.tree(column.json()));
        yield callPlanner(arguments);
      }
      case BACKFILL ->
          ColumnFill.fill(
              text.apply("table"), text.apply("column"), text.apply("expression"),
              text.apply("where"));
      default -> callPlanner(arguments);
    };
  }

  private JsonNode callPlanner(Map<String, JsonNode> arguments) {
    return Planner.call(new CallProcedure(name, arguments)).rows();
  }
}
