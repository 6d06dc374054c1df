package colonnade.format;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * One column of a table, or one nested field of it, as blocks hold it.
 *
 * <p>{@code type} is the type text of a primitive, else array, map, struct or variant. A map has
 * its key and its value as children, a variant its value and its metadata.
 *
 * <p>Spec: docs/spec/types.md
 */
public record StoredField(int id, String name, String type, Kind kind, List<StoredField> children) {

  /** The physical forms of values. */
  public enum Kind {
    BOOLEAN, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, DECIMAL, UTF8, BINARY, LIST, MAP, STRUCT;

    /** Whether blocks may hold values as their distance from a base; short decimals are apart. */
    public boolean isInteger() {
      return this == INT8 || this == INT16 || this == INT32 || this == INT64;
    }

    public boolean isNested() {
      return this == LIST || this == MAP || this == STRUCT;
    }
  }

  /** What order the values have, which decides what their bounds are made of. */
  public enum Order { INTEGER, FLOAT, DECIMAL, STRING, BINARY, NONE }

  /** Reads a field of a table schema as the log writes it. */
  public static StoredField parse(JsonNode field) {
    int id = field.get("id").intValue();
    String name = field.get("name").textValue();
    JsonNode type = field.get("type");
    if (type.isTextual()) {
      String text = type.textValue();
      Kind kind = kindOf(text);
      return new StoredField(id, name, text, kind, text.equals("variant") ? variant() : List.of());
    }
    String tag = type.get("type").textValue();
    List<StoredField> children = new ArrayList<>();
    switch (tag) {
      case "array" -> children.add(parse(type.get("element")));
      case "map" -> {
        children.add(parse(type.get("key")));
        children.add(parse(type.get("value")));
      }
      case "struct" -> type.get("fields").forEach(each -> children.add(parse(each)));
      default -> throw new IllegalArgumentException("unknown type " + tag + " of " + name);
    }
    Kind kind = switch (tag) {
      case "array" -> Kind.LIST;
      case "map" -> Kind.MAP;
      default -> Kind.STRUCT;
    };
    return new StoredField(id, name, tag, kind, List.copyOf(children));
  }

  private static List<StoredField> variant() {
    return List.of(
        new StoredField(0, "value", "binary", Kind.BINARY, List.of()),
        new StoredField(0, "metadata", "binary", Kind.BINARY, List.of()));
  }

  private static Kind kindOf(String text) {
    String head = text.split("[( ]", 2)[0];
    return switch (head) {
      case "boolean" -> Kind.BOOLEAN;
      case "byte" -> Kind.INT8;
      case "short" -> Kind.INT16;
      case "int", "date" -> Kind.INT32;
      case "long", "timestamp", "timestamp_ntz", "time" -> Kind.INT64;
      case "interval" ->
          text.startsWith("interval year") || text.startsWith("interval month")
              ? Kind.INT32
              : Kind.INT64;
      case "float" -> Kind.FLOAT32;
      case "double" -> Kind.FLOAT64;
      case "decimal" -> Kind.DECIMAL;
      case "string", "char", "varchar" -> Kind.UTF8;
      case "binary" -> Kind.BINARY;
      case "variant" -> Kind.STRUCT;
      default -> throw new IllegalArgumentException("unknown type " + text);
    };
  }

  public boolean isVariant() {
    return type.equals("variant");
  }

  /** Digits of a decimal. */
  public int precision() {
    return Integer.parseInt(type.substring(8, type.indexOf(',')));
  }

  /** Digits of a decimal behind its point. */
  public int scale() {
    return Integer.parseInt(type.substring(type.indexOf(',') + 1, type.length() - 1));
  }

  public boolean isShortDecimal() {
    return kind == Kind.DECIMAL && precision() <= 18;
  }

  public Order order() {
    return switch (kind) {
      case LIST, MAP, STRUCT -> Order.NONE;
      case UTF8 -> type.contains(" collate ") ? Order.NONE : Order.STRING;
      case BINARY -> Order.BINARY;
      case FLOAT32, FLOAT64 -> Order.FLOAT;
      case DECIMAL -> precision() <= 18 ? Order.INTEGER : Order.DECIMAL;
      default -> Order.INTEGER;
    };
  }
}
