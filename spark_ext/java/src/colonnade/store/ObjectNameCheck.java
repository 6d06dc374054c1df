package colonnade.store;

import java.util.Arrays;
import java.util.stream.Stream;

/** Refuses names that would lead out of a database. Spec: docs/spec/store.md#names */
public final class ObjectNameCheck {
  private ObjectNameCheck() {}

  /**
   * Checks the name of an object.
   *
   * @throws IllegalArgumentException with a sentence, for a name with an empty or hidden part
   */
  public static void check(String name) {
    Stream<String> parts = Arrays.stream(name.split("/", -1));
    if (parts.anyMatch(part -> part.isEmpty() || part.startsWith("."))) {
      throw new IllegalArgumentException(
          "[COLONNADE_INVALID_INPUT] '" + name
              + "' is not an object name: it must be relative and stay inside the"
              + " database.");
    }
  }
}
