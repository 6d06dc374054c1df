package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.rowset.BlockEntry;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Every encoding of blocks. A writer tries them in this order, and Python has the same order.
 *
 * <p>Spec: docs/spec/rowset.md#encodings
 */
public final class Encodings {
  static final List<Encoding> ALL =
      List.of(
          new NullEncoding(),
          new ConstantEncoding(),
          new DictionaryEncoding(),
          new NarrowedEncoding(),
          new LengthsEncoding(),
          new PlainEncoding());

  private static final Map<String, Encoding> BY_NAME =
      ALL.stream().collect(Collectors.toMap(each -> each.name, Function.identity()));

  private Encodings() {}

  /** Whether there is an encoding of that name. */
  public static boolean isKnown(String name) {
    return BY_NAME.containsKey(name);
  }

  /** Returns the encoding of a block. */
  static Encoding of(BlockEntry entry) throws Malformed {
    Encoding found = BY_NAME.get(entry.encoding());
    if (found == null) {
      throw new Malformed("its encoding " + entry.encoding() + " is unknown");
    }
    return found;
  }
}
