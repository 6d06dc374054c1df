package colonnade.store;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Creates objects below one URL. Safe for concurrent use by several threads. */
public interface ByteSink {
  Pattern PROTOCOL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*(?:://|::).*");
  Pattern LOCAL = Pattern.compile("(?:file|local):(?://(?=/))?(.*)");

  /**
   * Returns the sink of a URL. It writes a local folder directly, and every other store through
   * Hadoop. Does no I/O. Requires: the planner has found that the store can be written.
   */
  static ByteSink of(String url, Map<String, String> hadoopConf) {
    Matcher local = LOCAL.matcher(url);
    if (local.matches()) {
      return new LocalSink(local.group(1));
    }
    return PROTOCOL.matcher(url).matches()
        ? new HadoopSink(url, hadoopConf)
        : new LocalSink(url);
  }

  /**
   * Returns whether many small objects cost about as much as a large one. Where they cost more, a
   * RowSet of any size is one object.
   */
  boolean filesAreCheap();

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
