package colonnade.read.plan;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.rowset.Statistics;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Finds the stretches of rows that a predicate rules out, by bounds and Bloom filters.
 *
 * <p>For each part of the predicate, computes the set of truth values that a row may have: TRUE,
 * FALSE and NULL. Unknown facts and unsupported expressions may have all three. Pruning therefore
 * never drops a stretch with a matching row, but may keep stretches without one. Spark still
 * filters the rows.
 */
public final class Pruner {
  private static final int TRUE = 1;
  private static final int FALSE = 2;
  private static final int NULL = 4;
  private static final int ANY = TRUE | FALSE | NULL;

  /** The known facts about a set of rows, by column id. */
  public interface Known {
    /** Returns the bounds and counts of a column, or null if they are unknown. */
    Statistics statistics(TableField column);

    /** Returns whether values of a column may count as NULL that the statistics do not count so. */
    boolean mayMask(int column);

    /** Returns whether a column may hold at least one of the values with the given hashes. */
    boolean mayHold(int column, long[] hashes);
  }

  /** Computes the truth values that rows may have, from their number and the known facts. */
  private interface Test {
    int outcomes(long rows, Known known);
  }

  private final Set<TableField> columns = new LinkedHashSet<>();
  private final List<TableField> schema;
  private final int mostMembers;
  private Test test;

  private Pruner(List<TableField> schema, int mostMembers) {
    this.schema = schema;
    this.mostMembers = mostMembers;
  }

  /**
   * Returns the pruner of a predicate in JSON, or null if the predicate cannot prune anything.
   *
   * @param mostMembers Bloom filters are read for at most this many values
   */
  static Pruner of(JsonNode predicate, List<TableField> schema, int mostMembers) {
    if (predicate == null || predicate.isNull()) {
      return null;
    }
    Pruner pruner = new Pruner(schema, mostMembers);
    pruner.test = pruner.compile(predicate);
    return pruner.columns.isEmpty() ? null : pruner;
  }

  /** Returns the columns whose statistics the pruner uses. */
  public Set<TableField> columns() {
    return columns;
  }

  /** Returns whether any of {@code rows} rows may match. */
  public boolean mayMatch(long rows, Known known) {
    return (test.outcomes(rows, known) & TRUE) != 0;
  }

  private Test compile(JsonNode node) {
    return switch (node.get("op").textValue()) {
      case "and" -> all(node.get("parts"), false);
      case "or" -> all(node.get("parts"), true);
      case "not" -> {
        Test part = compile(node.get("part"));
        yield (rows, known) -> negate(part.outcomes(rows, known));
      }
      case "is_null" -> isNull(node.get("operand"));
      case "in" -> in(node);
      case "starts_with" -> prefix(node.get("column"), node.get("prefix").textValue(), true);
      case "like" -> like(node);
      case "=", "<>", "<", "<=", ">", ">=" -> compare(node);
      default -> (rows, known) -> ANY;
    };
  }

  private static int negate(int outcomes) {
    return (outcomes & TRUE) << 1 | (outcomes & FALSE) >> 1 | outcomes & NULL;
  }

  /**
   * Returns the test of a conjunction, or of a disjunction if {@code mirrored}. A disjunction is
   * the negation of the conjunction of its negated parts.
   */
  private Test all(JsonNode parts, boolean mirrored) {
    List<Test> tests = new ArrayList<>();
    parts.forEach(part -> tests.add(compile(part)));
    return (rows, known) -> {
      int all = TRUE;
      for (Test each : tests) {
        int outcomes = each.outcomes(rows, known);
        all = both(all, mirrored ? negate(outcomes) : outcomes);
      }
      return mirrored ? negate(all) : all;
    };
  }

  /**
   * Returns the truth values of the conjunction of two parts, given the truth values of each part.
   */
  private static int both(int left, int right) {
    int either = (left | right) & FALSE;
    int unknown = (left & NULL) != 0 && (right & (TRUE | NULL)) != 0
        || (right & NULL) != 0 && (left & (TRUE | NULL)) != 0 ? NULL : 0;
    return left & right & TRUE | either | unknown;
  }

  /** Returns the column that an operand names, or null if it has no statistics. */
  private TableField column(JsonNode operand) {
    if (!operand.isArray() || operand.size() != 1) {
      return null;
    }
    TableField found = TableField.find(operand.get(0).textValue(), schema);
    if (found != null) {
      columns.add(found);
    }
    return found;
  }

  private Test isNull(JsonNode operand) {
    TableField column = column(operand);
    return (rows, known) -> {
      Statistics found = column == null ? null : known.statistics(column);
      if (found == null) {
        return TRUE | FALSE;
      }
      boolean any = found.nulls() > 0 || known.mayMask(column.id());
      return (any ? TRUE : 0) | (found.nulls() < rows ? FALSE : 0);
    };
  }

  /** A test of the values of one column. The result for a NULL value is NULL. */
  private interface ValueTest {
    int outcomes(Bound low, Bound high);
  }

  private Test byBounds(JsonNode operand, int forNan, ValueTest test) {
    TableField column = column(operand);
    return (rows, known) -> {
      Statistics found = column == null ? null : known.statistics(column);
      if (found == null) {
        return ANY;
      }
      int outcomes = found.nulls() > 0 || known.mayMask(column.id()) ? NULL : 0;
      outcomes |= found.nans() > 0 ? forNan : 0;
      if (found.nulls() + found.nans() >= rows) {
        return outcomes;
      }
      boolean bounded = found.low() != null;
      return outcomes | (bounded ? test.outcomes(found.low(), found.high()) : TRUE | FALSE);
    };
  }

  private Test compare(JsonNode node) {
    boolean flipped = node.get("left").isTextual();
    JsonNode operand = node.get(flipped ? "right" : "left");
    JsonNode other = node.get(flipped ? "left" : "right");
    TableField column = column(operand);
    if (column == null || !other.isTextual()) {
      return (rows, known) -> ANY;
    }
    Literal literal = Literal.decode(other.textValue());
    if (literal.isNull()) {
      return (rows, known) -> NULL;
    }
    if (!literal.fits(column)) {
      return (rows, known) -> ANY;
    }
    String operator = node.get("op").textValue();
    String direct = flipped ? flip(operator) : operator;
    // NaN is greater than every number.
    int forNan = holds(direct, 1) ? TRUE : FALSE;
    Test test =
        byBounds(
            operand,
            forNan,
            (low, high) ->
                outcomes(
                    direct, literal.compareBound(low, column), literal.compareBound(high, column)));
    return direct.equals("=") ? byMembers(test, column, List.of(literal)) : test;
  }

  /**
   * Narrows a test. The result cannot be TRUE if the Bloom filter rules out all of the literals.
   */
  private Test byMembers(Test test, TableField column, List<Literal> literals) {
    List<Long> hashes = literals.stream().map(each -> each.hash(column)).toList();
    if (hashes.size() > mostMembers || hashes.contains(null)) {
      return test;
    }
    long[] members = hashes.stream().mapToLong(Long::longValue).toArray();
    return (rows, known) -> {
      int outcomes = test.outcomes(rows, known);
      boolean denied = (outcomes & TRUE) != 0 && !known.mayHold(column.id(), members);
      return denied ? outcomes & ~TRUE | FALSE : outcomes;
    };
  }

  private static String flip(String operator) {
    return switch (operator) {
      case "<" -> ">";
      case "<=" -> ">=";
      case ">" -> "<";
      case ">=" -> "<=";
      default -> operator;
    };
  }

  private static boolean holds(String operator, int sign) {
    return switch (operator) {
      case "=" -> sign == 0;
      case "<>" -> sign != 0;
      case "<" -> sign < 0;
      case "<=" -> sign <= 0;
      case ">" -> sign > 0;
      default -> sign >= 0;
    };
  }

  /**
   * Returns the truth values of a comparison. {@code low} and {@code high} are the signs of the
   * bounds minus the literal.
   */
  private static int outcomes(String operator, int low, int high) {
    int found = 0;
    for (int sign = -1; sign <= 1; sign++) {
      // Whether a value less than, equal to or greater than the literal may exist.
      boolean possible = sign < 0 ? low < 0 : sign > 0 ? high > 0 : low <= 0 && high >= 0;
      found |= !possible ? 0 : holds(operator, sign) ? TRUE : FALSE;
    }
    return found;
  }

  private Test in(JsonNode node) {
    TableField column = column(node.get("column"));
    if (column == null) {
      return (rows, known) -> ANY;
    }
    List<Literal> literals = new ArrayList<>();
    for (JsonNode each : node.get("values")) {
      Literal literal = Literal.decode(each.textValue());
      if (!literal.isNull() && !literal.fits(column)) {
        return (rows, known) -> ANY;
      }
      literals.add(literal);
    }
    if (literals.stream().anyMatch(each -> each.kind().equals("double"))) {
      literals.replaceAll(Literal::asDouble); // as Spark compares a list that has one
    }
    boolean hasNull = literals.stream().anyMatch(Literal::isNull);
    literals.removeIf(Literal::isNull);
    int otherwise = hasNull ? NULL : FALSE;
    Test test =
        byBounds(
            node.get("column"),
            otherwise,
            (low, high) -> {
              for (Literal each : literals) {
                if (each.compareBound(low, column) <= 0 && each.compareBound(high, column) >= 0) {
                  return TRUE | otherwise;
                }
              }
              return otherwise;
            });
    return byMembers(test, column, literals);
  }

  private Test like(JsonNode node) {
    String pattern = node.get("pattern").textValue();
    String escape = node.get("escape").textValue();
    int end = 0;
    while (end < pattern.length()
        && "%_".indexOf(pattern.charAt(end)) < 0
        && !escape.equals(pattern.substring(end, end + 1))) {
      end++;
    }
    return prefix(node.get("column"), pattern.substring(0, end), false);
  }

  /**
   * Tests whether texts begin with a prefix. If the prefix is not {@code enough}, a text with the
   * prefix may still fail the predicate.
   */
  private Test prefix(JsonNode operand, String prefix, boolean enough) {
    TableField column = column(operand);
    if (column == null || column.order() != TableField.Order.STRING) {
      return (rows, known) -> ANY;
    }
    UTF8String stem = UTF8String.fromString(prefix);
    return byBounds(
        operand,
        ANY,
        (low, high) -> {
          UTF8String first = ((Bound.Text) low).value();
          UTF8String last = ((Bound.Text) high).value();
          boolean below = first.compareTo(stem) <= 0 || first.startsWith(stem);
          if (!below || last.compareTo(stem) < 0) {
            return FALSE;
          }
          // If two texts have the same prefix, every text between them has it too.
          boolean all = enough && first.startsWith(stem) && last.startsWith(stem);
          return all ? TRUE : TRUE | FALSE;
        });
  }
}
