package colonnade.spark.words;

import colonnade.spark.quirks.session.StatementParameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The words and signs of a SQL text, without blanks and comments. A reader goes past them from the
 * first to the last. They are found one at a time, so a text for another parser costs no more than
 * its first words.
 */
final class Tokens {
  private enum Kind {
    WORD,
    QUOTED,
    TEXT,
    SIGN,
    END
  }

  private static final Pattern SKIPPED =
      Pattern.compile("(?:\\s++|--[^\\n]*+|/\\*[^*]*+(?:\\*(?!/)[^*]*+)*+\\*/)*+");

  /** A group for each kind but the last. Spark's words may begin with a digit. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "([\\p{L}\\p{N}_]++)"
              + "|(`[^`]*+(?:``[^`]*+)*+`)"
              + "|('[^'\\\\]*+(?:\\\\.[^'\\\\]*+)*+'|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\")"
              + "|(.)",
          Pattern.DOTALL);

  private final String sql;
  private Kind kind;
  private int begin;
  private int end;

  Tokens(String sql) {
    this.sql = sql;
    goTo(0);
  }

  /** Returns a text with the values of its parameters in the places of their markers. */
  static String filled(String sql, StatementParameters parameters) {
    StringBuilder filled = new StringBuilder();
    Tokens in = new Tokens(sql);
    int copied = 0;
    int asked = 0;
    while (in.kind != Kind.END) {
      int marker = in.begin;
      Optional<String> value = Optional.empty();
      if (in.present().equals("?")) {
        value = parameters.at().apply(asked++);
      } else if (!in.skip(":", ":") && in.skip(":")) {
        value = parameters.named().apply(in.present());
      }
      if (value.isPresent()) {
        filled.append(sql, copied, marker).append(value.get());
        copied = in.end;
      }
      in.next();
    }
    return filled.append(sql, copied, sql.length()).toString();
  }

  /** Goes to the first token from a place on. */
  private void goTo(int place) {
    Matcher skipped = SKIPPED.matcher(sql).region(place, sql.length());
    begin = skipped.lookingAt() ? skipped.end() : place;
    Matcher token = TOKEN.matcher(sql).region(begin, sql.length());
    kind = Kind.END;
    end = begin;
    if (token.lookingAt()) {
      end = token.end();
      for (int group = 1; group <= token.groupCount(); group++) {
        kind = token.group(group) == null ? kind : Kind.values()[group - 1];
      }
    }
  }

  private void next() {
    goTo(end);
  }

  /** Returns the token that comes next as it is written; an empty text at the end. */
  String present() {
    return sql.substring(begin, end);
  }

  /** Whether nothing but semicolons is left. */
  boolean atEnd() {
    int here = begin;
    while (present().equals(";")) {
      next();
    }
    boolean none = kind == Kind.END;
    goTo(here);
    return none;
  }

  /** Goes past some words or signs if all of them come next. */
  boolean skip(String... words) {
    int here = begin;
    for (String word : words) {
      if (!present().equalsIgnoreCase(word)) {
        goTo(here);
        return false;
      }
      next();
    }
    return true;
  }

  /** Goes past a name such as {@code a.`b c`}, and returns its parts; empty if none comes next. */
  List<String> name() {
    List<String> parts = new ArrayList<>();
    do {
      if (kind == Kind.QUOTED) {
        parts.add(present().substring(1, end - begin - 1).replace("``", "`"));
      } else if (kind == Kind.WORD) {
        parts.add(present());
      } else {
        return List.of();
      }
      next();
    } while (skip("."));
    return parts;
  }

  /** Goes past a literal of text, and returns it as it is written; null if none comes next. */
  String text() {
    if (kind != Kind.TEXT) {
      return null;
    }
    String literal = present();
    next();
    return literal;
  }

  /** Goes up to some words outside of parentheses, else to the end; returns what is before them. */
  String upTo(String... words) {
    int from = begin;
    int to = begin;
    int depth = 0;
    while (!atEnd()) {
      int here = begin;
      if (depth == 0 && words.length > 0 && skip(words)) {
        goTo(here);
        break;
      }
      depth += present().equals("(") ? 1 : present().equals(")") ? -1 : 0;
      to = end;
      next();
    }
    return sql.substring(from, to);
  }
}
