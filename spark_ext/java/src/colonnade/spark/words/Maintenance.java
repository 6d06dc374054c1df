package colonnade.spark.words;

import colonnade.planner.ColonnadeException;
import colonnade.spark.catalog.StatementTable;
import colonnade.spark.quirks.session.StatementParameters;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.internal.VariableSubstitution;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The statements of maintenance that people know from Delta Lake. Each is the call of a procedure in
 * other words. A statement about another table than Colonnade's is left to the other parsers of the
 * session.
 */
public final class Maintenance {
  private static final String OPTIMIZE = "OPTIMIZE t [FULL] [WHERE condition] [ZORDER BY (a, b)]";
  private static final String VACUUM = "VACUUM t [RETAIN n HOURS] [DRY RUN]";
  private static final String RESTORE = "RESTORE [TABLE] t TO VERSION AS OF n | TIMESTAMP AS OF time";
  private static final String HISTORY = "DESCRIBE HISTORY t [LIMIT n]";
  private static final String DETAIL = "DESCRIBE DETAIL t";

  /** A policy for one run, by which nothing stays that a compaction can make smaller. */
  private static final String FULL =
      "min-rowsets=2, deleted-share=0, max-overlap=1, run-bytes=none";

  /** The first words of statements that Spark does not know by itself. */
  private static final Set<String> UNKNOWN =
      Set.of("OPTIMIZE", "VACUUM", "RESTORE", "REORG", "CONVERT", "GENERATE");

  private static final Set<String> KNOWN = Set.of("DESCRIBE", "DESC", "CREATE", "REPLACE");

  private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?");
  private static final Pattern WHOLE = Pattern.compile("\\d+");
  private static final Pattern THEN_FULL =
      Pattern.compile("(.*\\S)\\s+FULL", Pattern.DOTALL | Pattern.CASE_INSENSITIVE);

  private final String sql;
  private final Tokens in;

  private Maintenance(String sql) {
    this.sql = sql;
    in = new Tokens(sql);
  }

  /** Whether a text begins with a word of such statements. */
  public static boolean begins(String sql) {
    String first = firstWord(sql);
    return UNKNOWN.contains(first) || KNOWN.contains(first);
  }

  /**
   * Returns the CALL that a text means; nothing if the text is for another parser. The values of
   * parameters are written into it, because a CALL gives some parts of the text as texts. Requires:
   * {@link #begins}.
   *
   * <p>Refuses a statement about a table of Colonnade that is not complete, or that Colonnade does
   * not have.
   */
  public static Optional<String> call(String sql, StatementParameters parameters) {
    String said = new VariableSubstitution().substitute(sql);
    return new Maintenance(Tokens.filled(said, parameters)).call();
  }

  /** Refuses a text that no parser of the session knows, if it is such a statement. */
  public static void refuseUnknown(String sql) {
    String first = firstWord(sql);
    if (first.equals("CONVERT")) {
      throw ColonnadeException.invalid(ForeignWords.CONVERT);
    } else if (UNKNOWN.contains(first)) {
      throw ColonnadeException.invalid(
          first
              + " names no table of Colonnade here, and nothing else in this session knows the"
              + " statement; name a table as in colonnade.db.t or colonnade.`/data/t`.");
    }
  }

  private static String firstWord(String sql) {
    return new Tokens(sql).present().toUpperCase(Locale.ROOT);
  }

  private Optional<String> call() {
    if (in.skip("OPTIMIZE")) {
      return of(this::optimize);
    } else if (in.skip("VACUUM")) {
      return of(this::vacuum);
    } else if (in.skip("RESTORE")) {
      in.skip("TABLE");
      return of(this::restore);
    } else if (in.skip("DESCRIBE", "HISTORY") || in.skip("DESC", "HISTORY")) {
      return of(this::history);
    } else if (in.skip("DESCRIBE", "DETAIL") || in.skip("DESC", "DETAIL")) {
      return of(table -> call(table, "detail", Map.of(), DETAIL));
    }
    ForeignWords.advice(new Tokens(sql)).ifPresent(ColonnadeException::invalid);
    return Optional.empty();
  }

  private Optional<String> of(Function<StatementTable, String> statement) {
    return table(in).map(statement);
  }

  /** Goes past a name, or a path as text; returns the table of Colonnade there, if it is one. */
  static Optional<StatementTable> table(Tokens in) {
    String path = in.text();
    if (path != null) {
      return StatementTable.atPath(value(path));
    }
    List<String> name = in.skip("IDENTIFIER", "(") ? identified(in) : in.name();
    return name.isEmpty() ? Optional.empty() : StatementTable.find(name);
  }

  /** Reads the rest of {@code IDENTIFIER('a.b')}; empty if it is written in another way. */
  private static List<String> identified(Tokens in) {
    String name = in.text();
    if (name == null || !in.skip(")")) {
      return List.of();
    }
    CatalystSqlParser$ parser = CatalystSqlParser$.MODULE$;
    return CollectionConverters.asJava(parser.parseMultipartIdentifier(value(name)));
  }

  private String optimize(StatementTable table) {
    boolean full = in.skip("FULL");
    Map<String, String> arguments = new LinkedHashMap<>();
    if (in.skip("WHERE")) {
      String condition = in.upTo("ZORDER", "BY");
      Matcher then = THEN_FULL.matcher(condition);
      boolean also = then.matches() && isExpression(then.group(1));
      full |= also;
      arguments.put("where", text(also ? then.group(1) : condition));
    }
    if (full) {
      arguments.put("options", text(FULL));
    }
    if (in.skip("ZORDER", "BY")) {
      arguments.put("zorder_by", text(columns()));
    }
    return call(table, "compact", arguments, OPTIMIZE);
  }

  /** Reads columns, with or without parentheses, and returns them as the procedure takes them. */
  private String columns() {
    boolean within = in.skip("(");
    List<String> columns = new ArrayList<>();
    do {
      List<String> name = in.name();
      if (name.isEmpty()) {
        throw unexpected(OPTIMIZE);
      }
      columns.add("`" + String.join(".", name).replace("`", "``") + "`");
    } while (in.skip(","));
    if (within && !in.skip(")")) {
      throw unexpected(OPTIMIZE);
    }
    return String.join(", ", columns);
  }

  private String vacuum(StatementTable table) {
    Map<String, String> arguments = new LinkedHashMap<>();
    String procedure = "vacuum";
    while (!in.atEnd()) {
      if (procedure.equals("vacuum") && in.skip("DRY", "RUN")) {
        procedure = "plan_vacuum";
      } else if (!arguments.containsKey("retention_hours") && in.skip("RETAIN")) {
        String hours = in.upTo("HOURS");
        if (!NUMBER.matcher(hours).matches() || !in.skip("HOURS")) {
          throw unexpected(VACUUM);
        }
        arguments.put("retention_hours", "CAST(" + hours + " AS DOUBLE)");
      } else if (!in.skip("FULL")) { // what a vacuum is anyway
        throw unexpected(VACUUM);
      }
    }
    return call(table, procedure, arguments, VACUUM);
  }

  private String restore(StatementTable table) {
    in.skip("TO");
    in.skip("FOR");
    if (in.skip("VERSION", "AS", "OF") || in.skip("SYSTEM_VERSION", "AS", "OF")) {
      String tag = in.text();
      String version = tag == null ? in.upTo() : value(tag);
      if (WHOLE.matcher(version).matches()) {
        return call(table, "restore", Map.of("epoch", version), RESTORE);
      } else if (tag != null) {
        return call(table, "restore", Map.of("tag", text(version)), RESTORE);
      }
    } else if (in.skip("TIMESTAMP", "AS", "OF") || in.skip("SYSTEM_TIME", "AS", "OF")) {
      String time = in.upTo();
      if (isExpression(time)) {
        // Spark 4.3 compares arguments with parameters before it has put names in their places,
        // wherever an argument needs a second look, such as one that depends on a time zone.
        String all = text(table.name()) + ", NULL, (" + time + "), NULL, NULL";
        return call(table, "restore", all, RESTORE);
      }
    }
    throw unexpected(RESTORE);
  }

  private String history(StatementTable table) {
    Map<String, String> arguments = Map.of();
    if (in.skip("LIMIT")) {
      String limit = in.upTo();
      if (!WHOLE.matcher(limit).matches()) {
        throw unexpected(HISTORY);
      }
      arguments = Map.of("limit", limit);
    }
    return call(table, "history", arguments, HISTORY);
  }

  /** Returns the call of a procedure, whose other arguments are expressions in SQL by name. */
  private String call(
      StatementTable table, String procedure, Map<String, String> arguments, String form) {
    StringBuilder named = new StringBuilder("table => ").append(text(table.name()));
    arguments.forEach((name, value) -> named.append(", ").append(name).append(" => ").append(value));
    return call(table, procedure, named.toString(), form);
  }

  private String call(StatementTable table, String procedure, String arguments, String form) {
    if (!in.atEnd()) {
      throw unexpected(form);
    }
    String catalog = table.catalog().replace("`", "``");
    return "CALL `" + catalog + "`.system." + procedure + "(" + arguments + ")";
  }

  private RuntimeException unexpected(String form) {
    String here = in.atEnd() ? "its end" : "'" + in.present() + "'";
    return ColonnadeException.invalid(
        "The statement cannot be read from " + here + " on: it is written " + form + ".");
  }

  /** Whether a text is a whole expression. */
  private static boolean isExpression(String text) {
    try {
      CatalystSqlParser$.MODULE$.parseExpression(text);
      return true;
    } catch (Exception malformed) {
      return false;
    }
  }

  /** Returns what a literal of text means. */
  private static String value(String literal) {
    return ((Literal) CatalystSqlParser$.MODULE$.parseExpression(literal)).value().toString();
  }

  /** Writes a text as SQL, which means the same whether backslashes escape or not. */
  private static String text(String value) {
    String hex = HexFormat.of().formatHex(value.getBytes(StandardCharsets.UTF_8));
    return "CAST(X'" + hex + "' AS STRING)";
  }
}
