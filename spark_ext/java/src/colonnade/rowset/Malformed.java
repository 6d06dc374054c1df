package colonnade.rowset;

/** Stored bytes that are not what is said about them; whoever catches it knows their names. */
final class Malformed extends Exception {
  private static final long serialVersionUID = 1L;

  Malformed(String problem) {
    super(problem);
  }

  Malformed(String problem, Throwable cause) {
    super(problem, cause);
  }
}
