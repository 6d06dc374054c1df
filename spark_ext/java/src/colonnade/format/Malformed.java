package colonnade.format;

/** Stored bytes that are not what is said about them; whoever catches it knows their names. */
public final class Malformed extends Exception {
  private static final long serialVersionUID = 1L;

  public Malformed(String problem) {
    super(problem);
  }

  public Malformed(String problem, Throwable cause) {
    super(problem, cause);
  }
}
