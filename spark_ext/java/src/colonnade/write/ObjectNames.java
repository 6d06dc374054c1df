package colonnade.write;

import java.security.SecureRandom;
import java.util.HexFormat;

/** The names of the objects of one RowSet. Spec: docs/spec/layout.md */
record ObjectNames(String prefix, String object) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Names for a RowSet that a job is about to write. */
  static ObjectNames fresh(String prefix, String job) {
    byte[] bits = new byte[8];
    RANDOM.nextBytes(bits);
    return new ObjectNames(prefix, job + HexFormat.of().formatHex(bits));
  }

  String folder() {
    return prefix + object;
  }

  String footer() {
    return folder() + "/rowset.json";
  }

  String segment(int column) {
    return folder() + "/" + column + ".col";
  }

  String index(int column) {
    return folder() + "/" + column + ".idx";
  }

  String packed() {
    return folder() + ".rowset";
  }
}
