package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A column of a table, or a field nested in one, as the log states it.
 *
 * <p>{@code type} is the text of a primitive type, {@code variant}, {@code array}, {@code map} or
 * {@code struct}. An array has its element as its child. A map has its key and its value, and a
 * variant its value and its metadata. Spec: docs/spec/types.md
 *
 * @param initial the value of rows in a RowSet that lacks the column, in the form of a bound; null
 *     means NULL
 * @param isStatic whether no RowSet stores the column, because its values belong to partition keys
 */
public record TableField(
    int id,
    String name,
    String type,
    Kind kind,
    boolean nullable,
    List<TableField> children,
    String initial,
    boolean isStatic) {
  private static final Pattern LENGTH = Pattern.compile("(?:var)?char\\((\\d+)\\)");

  private static final List<TableField> VARIANT =
      List.of(
          new TableField(0, "value", "binary", Kind.BINARY, false, List.of()),
          new TableField(0, "metadata", "binary", Kind.BINARY, false, List.of()));

  /** The storage form of values in a block. */
  public enum Kind {
    BOOLEAN, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, DECIMAL, UTF8, BINARY, LIST, MAP, STRUCT,
    /** All rows are NULL, and no block stores them. */
    VOID;

    /**
     * Whether a block may store values as the distance from a base. Short decimals may be stored so
     * too, but are not included here.
     */
    public boolean isInteger() {
      return this == INT8 || this == INT16 || this == INT32 || this == INT64;
    }

    public boolean isNested() {
      return this == LIST || this == MAP || this == STRUCT;
    }
  }

  /** Creates a field which no RowSet lacks. */
  public TableField(
      int id, String name, String type, Kind kind, boolean nullable, List<TableField> children) {
    this(id, name, type, kind, nullable, children, null, false);
  }

  /**
   * Reads a field of a table schema, which the driver has validated.
   *
   * @throws IllegalArgumentException if this version does not know the type
   */
  public static TableField parse(JsonNode node) {
    JsonNode type = node.get("type");
    String name = type.isTextual() ? type.textValue() : type.get("type").textValue();
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
        node.get("id").intValue(),
        node.get("name").textValue(),
        name,
        kindOf(name),
        node.get("nullable").booleanValue(),
        name.equals("variant") ? VARIANT : List.copyOf(children),
        node.path("initial").textValue(),
        node.path("static").asBoolean());
  }

  /** Returns the field with this name, else the one whose name differs only in case, else null. */
  public static TableField find(String name, List<TableField> fields) {
    TableField found = null;
    for (TableField field : fields) {
      if (field.name.equals(name)) {
        return field;
      }
      found = field.name.equalsIgnoreCase(name) ? field : found;
    }
    return found;
  }

  /**
   * Returns the field as RowSets have it that were written with a type. Returns null if no value of
   * that type is one of the field: the type does not widen to that of the field.
   */
  public TableField stored(String text) {
    if (text.equals(type)) {
      return this;
    }
    return Widening.widens(text, type)
        ? new TableField(id, name, text, kindOf(text), true, List.of())
        : null;
  }

  /** Returns the prefix of the bounds of the type. Spec: docs/spec/operations.md */
  public String prefix() {
    return switch (kind) {
      case UTF8 -> "s";
      case BINARY -> "b";
      case FLOAT32, FLOAT64 -> "f";
      case DECIMAL -> scale() == 0 ? "i" : "i" + scale();
      default -> type.equals("date") ? "d" : "i";
    };
  }

  /** Returns the field with other fields inside it. */
  public TableField withChildren(List<TableField> others) {
    return new TableField(
        id, name, type, kind, nullable, List.copyOf(others), initial, isStatic);
  }

  private static Kind kindOf(String text) {
    String head = text.split("[( ]", 2)[0];
    return switch (head) {
      case "boolean" -> Kind.BOOLEAN;
      case "byte" -> Kind.INT8;
      case "short" -> Kind.INT16;
      case "int", "date" -> Kind.INT32;
      case "long", "timestamp", "timestamp_ntz", "time" -> Kind.INT64;
      case "interval" -> isYearMonth(text) ? Kind.INT32 : Kind.INT64;
      case "float" -> Kind.FLOAT32;
      case "double" -> Kind.FLOAT64;
      case "decimal" -> Kind.DECIMAL;
      case "string", "char", "varchar" -> Kind.UTF8;
      case "binary" -> Kind.BINARY;
      case "array" -> Kind.LIST;
      case "map" -> Kind.MAP;
      case "struct", "variant" -> Kind.STRUCT;
      case "void" -> Kind.VOID;
      default -> throw new IllegalArgumentException("unknown type " + text);
    };
  }

  public boolean isVariant() {
    return type.equals("variant");
  }

  /** Whether all rows are NULL in the column, which no RowSet stores. */
  public boolean isVoid() {
    return kind == Kind.VOID;
  }

  public boolean isShortDecimal() {
    return kind == Kind.DECIMAL && precision() <= 18;
  }

  /**
   * Returns the type without the parts that only restrict or order its values. For every decimal
   * this is {@code decimal}.
   */
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
      return isYearMonth(type) ? "interval year to month" : "interval day to second";
    }
    return type;
  }

  private static boolean isYearMonth(String type) {
    return type.startsWith("interval year") || type.startsWith("interval month");
  }

  /** Returns the number of digits of a decimal. */
  public int precision() {
    return Integer.parseInt(type.substring("decimal(".length(), type.indexOf(',')));
  }

  /** Returns the number of digits of a decimal after the point. */
  public int scale() {
    return Integer.parseInt(type.substring(type.indexOf(',') + 1, type.length() - 1));
  }

  /**
   * Returns the length that a char or varchar declares. The length is unlimited for any other type.
   */
  public TextLength length() {
    var match = LENGTH.matcher(type);
    int most =
        match.matches()
            ? (int) Math.min(Long.parseLong(match.group(1)), Integer.MAX_VALUE - 1)
            : Integer.MAX_VALUE;
    return new TextLength(most, type.startsWith("char("));
  }

  /**
   * Returns the unit of the type as a multiple of the stored unit. Every value must be a multiple
   * of it. The unit is 1 if every stored value is valid.
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

  /** Returns the order of the values, which determines the class of their bounds. */
  public Order order() {
    return switch (kind) {
      case LIST, MAP, STRUCT, VOID -> Order.NONE;
      case UTF8 -> type.contains(" collate ") ? Order.NONE : Order.STRING;
      case BINARY -> Order.BINARY;
      case FLOAT32, FLOAT64 -> Order.FLOAT;
      case DECIMAL -> isShortDecimal() ? Order.INTEGER : Order.DECIMAL;
      default -> Order.INTEGER;
    };
  }

  /** The orders of values. Spec: docs/spec/rowset.md#bounds */
  public enum Order {
    INTEGER,
    FLOAT,
    DECIMAL,
    STRING,
    BINARY,
    NONE
  }
}
