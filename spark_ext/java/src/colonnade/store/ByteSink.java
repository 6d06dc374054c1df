package colonnade.store;

import java.io.IOException;
import java.util.List;

/** Creates objects below one URL. Safe for concurrent use by several threads. */
public interface ByteSink {
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
