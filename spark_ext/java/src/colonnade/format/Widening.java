package colonnade.format;

import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The types that a column may widen to, by their texts. A wider type has every value of the
 * narrower one. Its counterpart in Python is {@code manifests/model/columns/widening.py}.
 *
 * <p>Spec: docs/spec/types.md#widening
 */
final class Widening {
  private static final Map<String, Integer> DIGITS =
      Map.of("byte", 3, "short", 5, "int", 10, "long", 19);

  private static final Set<String> DOUBLES = Set.of("byte", "short", "int", "float");

  private static final Pattern DECIMAL = Pattern.compile("decimal\\((\\d{1,2}),(\\d{1,2})\\)");
  private static final Pattern TEXT = Pattern.compile("(char|varchar)\\((\\d{1,18})\\)");

  private Widening() {}

  /** Whether a column of type {@code old} may widen to {@code wider}. A void column has no rows. */
  static boolean widens(String old, String wider) {
    if (wider.equals("double")) {
      return DOUBLES.contains(old);
    }
    if (old.equals("date")) {
      return wider.equals("timestamp_ntz");
    }
    if (DIGITS.containsKey(old) && DIGITS.containsKey(wider)) {
      return DIGITS.get(old) < DIGITS.get(wider);
    }
    Matcher decimal = DECIMAL.matcher(wider);
    return decimal.matches()
        ? !old.equals(wider) && fits(old, number(decimal, 1), number(decimal, 2))
        : isLonger(old, wider);
  }

  private static boolean fits(String old, long precision, long scale) {
    if (DIGITS.containsKey(old)) {
      return precision - scale >= DIGITS.get(old);
    }
    Matcher before = DECIMAL.matcher(old);
    return before.matches()
        && scale >= number(before, 2)
        && precision - scale >= number(before, 1) - number(before, 2);
  }

  private static boolean isLonger(String old, String wider) {
    Matcher before = TEXT.matcher(old);
    Matcher after = TEXT.matcher(wider);
    if (!before.matches() || old.equals(wider)) {
      return false;
    }
    boolean isVarchar = after.matches() && after.group(1).equals("varchar");
    return wider.equals("string") || (isVarchar && number(after, 2) >= number(before, 2));
  }

  private static long number(Matcher text, int group) {
    return Long.parseLong(text.group(group));
  }
}
