package colonnade.write.refusals;

import colonnade.store.TaskFailure;

/** Creates the errors for rows that cannot be written: a stable code followed by one sentence. */
public final class Refusal {
  private static final String INVALID = "COLONNADE_INVALID_INPUT";

  private Refusal() {}

  /** Creates the error for rows or a call that cannot be written. */
  public static RuntimeException invalid(String sentence) {
    return TaskFailure.of(INVALID, INVALID, sentence);
  }

  /**
   * Creates the error for a string that is longer than its char or varchar. Its condition is
   * Spark's.
   */
  public static RuntimeException tooLong(String sentence) {
    return TaskFailure.of("EXCEED_LIMIT_LENGTH", INVALID, sentence);
  }

  /** Creates the error for a value that is larger than a block can hold. */
  public static RuntimeException tooLarge(String column, long bytes) {
    return invalid(
        "Column " + ColumnNames.quote(column) + " has a value of " + bytes
            + " bytes; one value may take 2 GiB.");
  }
}
