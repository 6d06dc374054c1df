package colonnade.spark.sink;

/**
 * A concurrent writer is in the way of columns that a statement replaces. If the statement moved its
 * changed rows instead, it might commit. Users never see this error.
 */
final class ColumnConflict extends RuntimeException {
  ColumnConflict(String sentence) {
    super(sentence);
  }

  /** Whether an error is of this kind, or has one as a cause. */
  static boolean isCauseOf(Throwable error) {
    return error != null && (error instanceof ColumnConflict || isCauseOf(error.getCause()));
  }
}
