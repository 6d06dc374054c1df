package colonnade.write.staged;

import colonnade.format.arrow.Bits;

/**
 * Checks UTF-8 text without decoding it. See docs/decisions/spark-jar.md on why not by {@code UTF8String}.
 */
final class Utf8 {
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** Whether a range of bytes is only ASCII. */
  static boolean isAscii(byte[] bytes, int start, int end) {
    int at = start;
    long seen = 0;
    for (; at + 8 <= end; at += 8) {
      seen |= Bits.getLong(bytes, at);
    }
    for (; at < end; at++) {
      seen |= bytes[at];
    }
    return (seen & HIGH_BITS) == 0;
  }

  /**
   * Whether a range of bytes is well-formed UTF-8: shortest forms, no surrogates, up to U+10FFFF.
   */
  static boolean isValid(byte[] bytes, int start, int end) {
    int at = start;
    while (at < end) {
      int lead = bytes[at] & 0xFF;
      int length = lengthOf(lead);
      if (length == 0 || at + length > end) {
        return false;
      }
      for (int i = 1; i < length; i++) {
        if ((bytes[at + i] & 0xC0) != 0x80) {
          return false;
        }
      }
      if (length > 2 && !isSecond(lead, bytes[at + 1] & 0xFF)) {
        return false;
      }
      at += length;
    }
    return true;
  }

  /**
   * Returns the length of a code point by its first byte, or 0 if no code point begins with this
   * byte.
   */
  private static int lengthOf(int lead) {
    if (lead < 0x80) {
      return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
      return 0;
    }
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  }

  /**
   * Whether a second byte is valid: not an overlong form, a surrogate or a code point that is too
   * large.
   */
  private static boolean isSecond(int lead, int second) {
    return switch (lead) {
      case 0xE0 -> second >= 0xA0;
      case 0xED -> second < 0xA0;
      case 0xF0 -> second >= 0x90;
      case 0xF4 -> second < 0x90;
      default -> true;
    };
  }

  /** Returns the number of code points of valid text. */
  static int codePoints(byte[] bytes, int start, int end) {
    int points = 0;
    for (int at = start; at < end; at++) {
      points += (bytes[at] & 0xC0) != 0x80 ? 1 : 0;
    }
    return points;
  }

  /** Returns the position where the first {@code points} code points of valid text end. */
  static int endOf(byte[] bytes, int start, int end, int points) {
    int at = start;
    for (int i = 0; i < points && at < end; i++) {
      at += lengthOf(bytes[at] & 0xFF);
    }
    return at;
  }
}
