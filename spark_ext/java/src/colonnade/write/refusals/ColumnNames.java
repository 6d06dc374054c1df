package colonnade.write.refusals;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Matches columns and fields by name, and quotes names in messages. */
public final class ColumnNames {
  private ColumnNames() {}

  /**
   * Returns the position of each wanted name among those found: by its exact text, else in any
   * case.
   *
   * @throws org.apache.spark.sql.AnalysisException with one sentence about {@code what} that lists
   *     all names that are missing, unknown or there twice
   */
  public static int[] match(List<String> found, List<String> wanted, String what) {
    Map<String, List<Integer>> places = new LinkedHashMap<>();
    for (int i = 0; i < found.size(); i++) {
      places.computeIfAbsent(fold(found.get(i)), name -> new ArrayList<>()).add(i);
    }
    Map<String, Boolean> known = new HashMap<>();
    wanted.forEach(name -> known.put(fold(name), true));
    Faults faults = new Faults();
    faults.add(
        "lacks",
        wanted.stream().filter(name -> !places.containsKey(fold(name))).toList(),
        "give what is missing");
    faults.add(
        "has the unknown",
        found.stream().filter(name -> !known.containsKey(fold(name))).toList(),
        "correct or leave out what is unknown");
    faults.add(
        "has more than once",
        places.values().stream()
            .filter(at -> at.size() > 1)
            .map(at -> found.get(at.get(0)))
            .toList(),
        "give each field once");
    faults.refuse(what);
    return wanted.stream().mapToInt(name -> places.get(fold(name)).get(0)).toArray();
  }

  /** What is wrong with some names, and what to do about it. */
  private static final class Faults {
    private final List<String> faults = new ArrayList<>();
    private final List<String> advice = new ArrayList<>();

    void add(String fault, List<String> names, String todo) {
      if (!names.isEmpty()) {
        faults.add(
            names.stream()
                .map(ColumnNames::quote)
                .collect(Collectors.joining(", ", fault + " ", "")));
        advice.add(todo);
      }
    }

    void refuse(String what) {
      if (!faults.isEmpty()) {
        String and = " and ";
        throw Refusal.invalid(
            what + " " + String.join(and, faults) + "; " + String.join(and, advice) + ".");
      }
    }
  }

  /**
   * Returns a name quoted as Python's {@code repr} does, because messages must be the same in both
   * languages.
   */
  public static String quote(String name) {
    char mark = name.indexOf('\'') >= 0 && name.indexOf('"') < 0 ? '"' : '\'';
    StringBuilder quoted = new StringBuilder().append(mark);
    name.codePoints().forEach(point -> appendQuoted(quoted, point, mark));
    return quoted.append(mark).toString();
  }

  private static void appendQuoted(StringBuilder quoted, int point, char mark) {
    switch (point) {
      case '\n' -> quoted.append("\\n");
      case '\r' -> quoted.append("\\r");
      case '\t' -> quoted.append("\\t");
      default -> {
        if (point == mark || point == '\\') {
          quoted.append('\\').appendCodePoint(point);
        } else if (point < ' ' || point == 127) {
          quoted.append(String.format("\\x%02x", point));
        } else {
          quoted.appendCodePoint(point);
        }
      }
    }
  }

  private static String fold(String name) {
    // Mapping to upper and back to lower case turns a sharp s into two letters, as Python does.
    return name.toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
  }
}
