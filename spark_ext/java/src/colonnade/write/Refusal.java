package colonnade.write;

/**
 * Makes the errors of rows that cannot be written: one sentence behind its stable code.
 *
 * <p>They are plain exceptions of the JDK on purpose: a class of this jar might not be known to the
 * thread of the driver that receives them from an executor, and the sentence would be lost.
 */
final class Refusal {
  private Refusal() {}

  /** The rows or the call cannot be written as they are. */
  static IllegalArgumentException invalid(String sentence) {
    return new IllegalArgumentException("[COLONNADE_INVALID_INPUT] " + sentence);
  }

  /** What a value takes is more than a block can hold. */
  static IllegalArgumentException tooLarge(String column, long bytes) {
    return invalid(
        "Column " + Names.quote(column) + " has a value of " + bytes
            + " bytes; one value may take 2 GiB.");
  }
}
