package colonnade.write.staged;

import colonnade.store.TaskFailure;

/** Makes the errors of rows that cannot be written: one sentence behind its stable code. */
public final class Refusal {
  private static final String INVALID = "COLONNADE_INVALID_INPUT";

  private Refusal() {}

  /** The rows or the call cannot be written as they are. */
  public static RuntimeException invalid(String sentence) {
    return TaskFailure.of(INVALID, INVALID, sentence);
  }

  /** A text is longer than its char or varchar; the condition is Spark's own for that. */
  static RuntimeException tooLong(String sentence) {
    return TaskFailure.of("EXCEED_LIMIT_LENGTH", INVALID, sentence);
  }

  /** What a value takes is more than a block can hold. */
  static RuntimeException tooLarge(String column, long bytes) {
    return invalid(
        "Column " + Names.quote(column) + " has a value of " + bytes
            + " bytes; one value may take 2 GiB.");
  }
}
