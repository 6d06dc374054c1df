package colonnade.store;

import java.util.regex.Pattern;

/** Messages without the middle of very long words and texts, as {@code manifests/errors.py} has them. */
public final class ShortText {
  private static final Pattern LONG_WORD = Pattern.compile("(\\S{100})\\S{371,}(\\S{30})");

  /** The most characters of a message. Names and texts that users give have no such limit. */
  private static final int MOST = 2_000;

  private ShortText() {}

  /** Returns a message with an ellipsis in each word of more than 500 characters. */
  public static String of(String message) {
    String text = LONG_WORD.matcher(message).replaceAll("$1…$2");
    return text.length() <= MOST
        ? text
        : text.substring(0, MOST - 500) + " … " + text.substring(text.length() - 490);
  }
}
