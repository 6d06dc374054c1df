package colonnade.planner.messages;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * What stands around each request on its line, and around each reply. {@code planner/messages/envelope.py} says what each
 * field is. The settings of stores hold secrets, and travel nowhere but over the pipe.
 */
public record Envelope(
    long id, String op, JsonNode args, @Nullable String user, @Nullable String metadata,
    @Nullable String within, Map<String, String> storage, Map<String, String> hadoop,
    boolean again) {
  /** An error: its code, and a sentence. */
  public record Failure(String code, String message) {}

  /**
   * The {@code result} of a request, or its {@code error}, and {@code notices}: sentences for the
   * user.
   */
  public record Reply(
      long id, JsonNode result, @Nullable Failure error, List<String> notices) {}

  /** Returns the envelope of one sending: its number, and whether it is not the first one. */
  public Envelope sent(long number, boolean repeated) {
    return new Envelope(
        number, op, args, user, metadata, within, storage, hadoop, repeated);
  }

  /** Names nothing else, because a record's own text would show the secrets. */
  @Override
  public String toString() {
    return "request " + id + " for " + op;
  }
}
