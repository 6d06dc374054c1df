package colonnade.format;

/**
 * Signals stored bytes that contradict what the log or an index states about them. The code that
 * catches it adds the name of the object.
 */
public final class Malformed extends Exception {
  private static final long serialVersionUID = 1L;

  public Malformed(String problem) {
    super(problem);
  }

  public Malformed(String problem, Throwable cause) {
    super(problem, cause);
  }
}
