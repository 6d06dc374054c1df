package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A column of the table or a field nested in one, as the log states it.
 *
 * <p>{@code type} is a primitive type's text, {@code variant}, or {@code array}, {@code map} or
 * {@code struct}, whose fields are {@code children}; those of a variant are its value and metadata.
 * Spec: docs/spec/types.md
 */
public record TableField(int id, String name, String type, boolean nullable, List<TableField> children) {
  private static final Pattern DECIMAL = Pattern.compile("decimal\\((\\d+),(\\d+)\\)");
  private static final Pattern LENGTH = Pattern.compile("(?:var)?char\\((\\d+)\\)");

  private static final List<TableField> VARIANT =
      List.of(
          new TableField(0, "value", "binary", false, List.of()),
          new TableField(0, "metadata", "binary", false, List.of()));

  /** Read a field of a schema's JSON. */
  public static TableField parse(JsonNode node) {
    JsonNode type = node.get("type");
    String name = type.isTextual() ? type.asText() : type.get("type").asText();
    List<TableField> children = new ArrayList<>();
    for (String key : List.of("element", "key", "value")) {
      if (type.has(key)) {
        children.add(parse(type.get(key)));
      }
    }
    if (type.has("fields")) {
      type.get("fields").forEach(child -> children.add(parse(child)));
    }
    return new TableField(
        node.get("id").asInt(),
        node.get("name").asText(),
        name,
        node.get("nullable").asBoolean(),
        name.equals("variant") ? VARIANT : List.copyOf(children));
  }

  /** The type without what only restricts or orders its values; a decimal is just that. */
  public String base() {
    if (type.startsWith("char(") || type.startsWith("varchar(") || type.startsWith("string ")) {
      return "string";
    }
    if (type.startsWith("time(")) {
      return "time";
    }
    if (type.startsWith("decimal(")) {
      return "decimal";
    }
    if (type.startsWith("interval ")) {
      return isYearMonth() ? "interval year to month" : "interval day to second";
    }
    return type;
  }

  private boolean isYearMonth() {
    return type.startsWith("interval year") || type.startsWith("interval month");
  }

  /** Digits of a decimal. */
  public int precision() {
    return digits(1);
  }

  /** Digits of a decimal behind the point. */
  public int scale() {
    return digits(2);
  }

  private int digits(int group) {
    var match = DECIMAL.matcher(type);
    if (!match.matches()) {
      throw new IllegalStateException(type + " is no decimal");
    }
    return Integer.parseInt(match.group(group));
  }

  /** How long the texts of a char or varchar are; any length for another type. */
  public TextLength length() {
    var match = LENGTH.matcher(type);
    int most =
        match.matches()
            ? (int) Math.min(Long.parseLong(match.group(1)), Integer.MAX_VALUE - 1)
            : Integer.MAX_VALUE;
    return new TextLength(most, type.startsWith("char("));
  }

  /**
   * The unit that values are multiples of, in the stored unit; 1 where any value will do.
   */
  public long unit() {
    if (base().equals("time")) {
      return Math.round(Math.pow(10, 9 - (type.charAt(5) - '0')));
    }
    return switch (type) {
      case "interval year" -> 12;
      case "interval day" -> 86_400_000_000L;
      case "interval hour", "interval day to hour" -> 3_600_000_000L;
      case "interval minute", "interval day to minute", "interval hour to minute" ->
          60_000_000L;
      default -> 1;
    };
  }

  /** How the values compare, which decides what their bounds are made of. */
  public Order order() {
    return switch (base()) {
      case "array", "map", "struct", "variant" -> Order.NONE;
      case "string" -> type.contains(" collate ") ? Order.NONE : Order.STRING;
      case "binary" -> Order.BINARY;
      case "float", "double" -> Order.FLOAT;
      case "decimal" -> precision() > 18 ? Order.DECIMAL : Order.INTEGER;
      default -> Order.INTEGER;
    };
  }

  /** Orders of values. Spec: docs/spec/rowset.md#bounds */
  public enum Order {
    INTEGER,
    FLOAT,
    DECIMAL,
    STRING,
    BINARY,
    NONE
  }
}
