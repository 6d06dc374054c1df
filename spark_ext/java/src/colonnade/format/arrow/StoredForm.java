package colonnade.format.arrow;

import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Type;

/**
 * The forms that blocks may have of a column with fields inside it.
 *
 * <p>Fields inside a column are added, dropped, moved and widened. No RowSet is written again. So a
 * block may lack fields of the table, and have fields that the table has dropped. Its stream names
 * each field of a struct by its id. The element of a list, and key and value of a map, have their
 * place.
 *
 * <p>Spec: docs/spec/types.md#fields-inside-a-column
 */
public final class StoredForm {
  /** The types, besides decimals, that a stream may have values of because a field widened. */
  private static final List<String> NARROW =
      List.of("byte", "short", "int", "long", "float", "date");

  private StoredForm() {}

  /**
   * Returns the form that a block has of a column, or null if no block of the column may be so. A
   * field that the table does not have any more is in the form, under its id and without a name.
   */
  public static TableField of(Field found, TableField column) {
    boolean nested = column.kind().isNested() && !column.isVariant();
    return nested && isNamed(found, column) ? inside(found, column) : null;
  }

  private static boolean isNamed(Field found, TableField column) {
    return found.nullable() && Integer.toString(column.id()).equals(found.name());
  }

  private static TableField inside(Field found, TableField wanted) {
    if (found.dictionary() != null) {
      return null;
    }
    if (!wanted.kind().isNested() || wanted.isVariant()) {
      return leaf(found, wanted);
    }
    List<TableField> children =
        switch (wanted.kind()) {
          case LIST -> found.typeType() == Type.List ? inPlace(found, wanted) : null;
          case MAP -> found.typeType() == Type.Map ? pair(found, wanted) : null;
          default -> found.typeType() == Type.Struct_ ? byId(found, wanted) : null;
        };
    return children == null ? null : wanted.withChildren(children);
  }

  private static TableField leaf(Field found, TableField wanted) {
    if (ArrowForms.hasType(found, wanted)) {
      return wanted;
    }
    String decimal = ArrowForms.decimalText(found);
    for (String text : decimal == null ? NARROW : List.of(decimal)) {
      TableField form = wanted.stored(text);
      if (form != null && ArrowForms.hasType(found, form)) {
        return form;
      }
    }
    return null;
  }

  private static List<TableField> inPlace(Field found, TableField wanted) {
    if (found.childrenLength() != wanted.children().size()) {
      return null;
    }
    List<TableField> children = new ArrayList<>();
    for (int i = 0; i < found.childrenLength(); i++) {
      children.add(inside(found.children(i), wanted.children().get(i)));
    }
    return children.contains(null) ? null : children;
  }

  private static List<TableField> pair(Field found, TableField wanted) {
    boolean isPair =
        found.childrenLength() == 1 && found.children(0).typeType() == Type.Struct_;
    return isPair ? inPlace(found.children(0), wanted) : null;
  }

  private static List<TableField> byId(Field found, TableField wanted) {
    Map<String, TableField> known = new HashMap<>();
    for (TableField child : wanted.children()) {
      known.put(Integer.toString(child.id()), child);
    }
    Set<String> seen = new HashSet<>();
    List<TableField> children = new ArrayList<>();
    for (int i = 0; i < found.childrenLength(); i++) {
      Field child = found.children(i);
      TableField own = known.get(child.name());
      TableField stored = own == null ? dropped(child) : inside(child, own);
      if (!seen.add(child.name()) || stored == null) {
        return null;
      }
      children.add(stored);
    }
    return children;
  }

  /** Returns a field that the table has dropped, or null if no block may have one of its type. */
  private static TableField dropped(Field found) {
    Kind kind = kind(found.typeType());
    String name = found.name();
    if (kind == null || name == null || found.dictionary() != null) {
      return null;
    }
    boolean isMap = kind == Kind.MAP;
    if (isMap && (found.childrenLength() != 1 || found.children(0).childrenLength() != 2)) {
      return null;
    }
    Field parent = isMap ? found.children(0) : found;
    List<TableField> children = new ArrayList<>();
    for (int i = 0; i < parent.childrenLength(); i++) {
      children.add(dropped(parent.children(i)));
    }
    return children.contains(null)
        ? null
        : new TableField(0, "", kind.name(), kind, true, children);
  }

  private static Kind kind(byte type) {
    return switch (type) {
      case Type.Bool -> Kind.BOOLEAN;
      case Type.Int, Type.FloatingPoint, Type.Decimal -> Kind.INT64;
      case Type.Date, Type.Time, Type.Timestamp, Type.Duration -> Kind.INT64;
      case Type.Utf8 -> Kind.UTF8;
      case Type.Binary -> Kind.BINARY;
      case Type.List -> Kind.LIST;
      case Type.Map -> Kind.MAP;
      case Type.Struct_ -> Kind.STRUCT;
      default -> null;
    };
  }
}
