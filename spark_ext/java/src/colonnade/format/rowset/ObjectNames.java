package colonnade.format.rowset;

import java.security.SecureRandom;
import java.util.HexFormat;

/** The names of the objects of one RowSet. Spec: docs/spec/layout.md */
public record ObjectNames(String prefix, String object) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Returns new names for a RowSet that a job is about to write. */
  public static ObjectNames fresh(String prefix, String jobId) {
    byte[] bits = new byte[8];
    RANDOM.nextBytes(bits);
    return new ObjectNames(prefix, jobId + HexFormat.of().formatHex(bits));
  }

  public String folder() {
    return prefix + object;
  }

  public String footer() {
    return folder() + "/rowset.json";
  }

  public String columnSegment(int column) {
    return folder() + "/" + column + ".col";
  }

  public String index(int column) {
    return folder() + "/" + column + ".idx";
  }

  /**
   * Returns the name of a deletion vector, which differs from the names of the RowSet's other
   * objects.
   */
  public String deletionVector() {
    return folder() + ".dv";
  }

  public String packed() {
    return folder() + ".rowset";
  }
}
