package colonnade.planner.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * Replies that several requests have. {@code planner/messages/base.py} says what each field is.
 */
public final class Replies {
  private Replies() {}

  /** The reply to a request that has nothing to say. */
  public record Done() {}

  /** Yes or no. */
  public record Answer(boolean yes) {}

  /** One name. */
  public record Name(String name) {}

  /** Several names. */
  public record Names(List<String> names) {}

  /** Rows of Spark's internal values, as lists. */
  public record Rows(JsonNode rows) {}
}
