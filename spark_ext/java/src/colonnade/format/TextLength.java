package colonnade.format;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * The length that a char or varchar declares, in code points, and whether values are padded to it.
 *
 * <p>Spark itself checks and pads columns and fields of structs. It does not do so inside
 * arrays and maps, and nowhere if {@code spark.sql.legacy.charVarcharAsString} is set.
 *
 * <p>Spec: docs/spec/types.md
 *
 * @param most the most code points of a value; the largest integer for a type without a limit
 * @param isPadded whether shorter values are padded with spaces
 */
public record TextLength(int most, boolean isPadded) {
  private static final UTF8String SPACE = UTF8String.fromString(" ");

  /** Whether values of any length are stored unchanged. */
  public boolean isFree() {
    return most == Integer.MAX_VALUE;
  }

  /**
   * Returns the text to store. Pads a char. Shortens a text that is too long only by spaces at its
   * end.
   */
  public UTF8String fit(UTF8String text) {
    if (!isPadded && text.numBytes() <= most) {
      return text; // no text has more code points than bytes
    }
    int points = text.numChars();
    if (points > most) {
      UTF8String trimmed = text.trimRight();
      return trimmed.numChars() > most ? trimmed : text.substring(0, most);
    }
    return isPadded && points < most ? text.rpad(most, SPACE) : text;
  }
}
