package colonnade.planner.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * Requests about procedures, and about the planner itself. {@code
 * planner/messages/procedures.py} says what each field is.
 */
public final class Procedures {
  private Procedures() {}

  /** Describe this planner, which also sends that before the first request. */
  public record Describe() implements Question<Description> {}

  /** A planner and the Python that runs it. */
  public record Description(String version, long protocol, long pid, String python) {}

  /** Describe all procedures, by name. */
  public record ListProcedures() implements Question<ProcedureList> {}

  /**
   * One parameter, with a Spark type in DDL; an {@code optional} argument that is left out is
   * null.
   */
  public record Parameter(String name, String type, boolean optional, String description) {}

  /** A procedure; {@code columns} has the columns of its result, in DDL. */
  public record Procedure(
      String description, String columns, List<Parameter> parameters) {}

  /** All procedures, by name. */
  public record ProcedureList(Map<String, Procedure> procedures) {}

  /** Call a procedure; the arguments {@code table} and {@code database} are paths. */
  public record CallProcedure(
      String name, Map<String, JsonNode> arguments)
      implements OneTimeRequest<Replies.Rows> {}
}
