package colonnade.store;

import java.io.IOException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Creates objects below one URL. Safe for concurrent use by several threads. */
public interface ByteSink {
  Pattern PROTOCOL = Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)(?:://|::).*");
  Pattern LOCAL = Pattern.compile("(?:file|local):(?://(?=/))?(.*)");

  /**
   * Returns the sink of the store at {@code url}. Does no I/O.
   *
   * @throws org.apache.spark.sql.AnalysisException if the store is read-only
   */
  static ByteSink of(String url) {
    Matcher local = LOCAL.matcher(url);
    Matcher protocol = PROTOCOL.matcher(url);
    if (!local.matches() && protocol.matches()) {
      throw TaskFailure.of(
          "COLONNADE_INVALID_INPUT",
          "COLONNADE_INVALID_INPUT",
          url + " is read-only: Colonnade knows no atomic put-if-absent for the"
              + " protocol '" + protocol.group(1)
              + "', and without one a commit can be lost; write to a local path.");
    }
    return new LocalSink(local.matches() ? local.group(1) : url);
  }

  /**
   * Begins a new object, which is durable once it is closed if {@code sync}.
   *
   * @throws IOException with a sentence that names the object, if it exists or cannot be written
   */
  ObjectOutput create(String name, boolean sync) throws IOException;

  /**
   * Closes objects that {@link #create} of this sink began, with many waits at once. Each object is
   * then as its own {@code close} would leave it.
   *
   * @throws IOException as {@code close}; some of the objects may exist then
   */
  void closeAll(List<ObjectOutput> outputs) throws IOException;

  /** Deletes an object; does nothing if it is absent. */
  void delete(String name) throws IOException;

  /**
   * Deletes a folder that is empty, where the store has folders; does nothing if it is absent or
   * not empty. Requires: no other thread writes into it later.
   */
  void removeFolder(String name) throws IOException;
}
