package colonnade.store.hadoop;

import java.util.regex.Pattern;

/**
 * The status and the code word with which a server refused a request.
 *
 * <p>Connectors have them in errors of libraries that the jar is compiled without. So it asks those
 * errors by the names of their methods.
 *
 * @param status the HTTP status
 * @param code the server's own word for it; empty where it said none
 */
record ServerAnswer(int status, String code) {
  private static final Pattern PLAIN_WORD = Pattern.compile("[A-Za-z0-9]{1,60}");

  /** Returns what a method without arguments answers. */
  static Object ask(Object answered, String method) throws ReflectiveOperationException {
    return answered.getClass().getMethod(method).invoke(answered);
  }

  /** Returns the meaning that the status alone has. */
  String sentence() {
    if (status == 429 || status >= 500) {
      return "the server is busy or has failed (HTTP " + status + "); run this again";
    }
    return "the server refused it (HTTP " + status + (isNamed() ? ", " + code : "") + ")";
  }

  /** Returns whether the code is one plain word, which may be shown. */
  boolean isNamed() {
    return PLAIN_WORD.matcher(code).matches();
  }
}
