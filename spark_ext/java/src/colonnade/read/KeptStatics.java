package colonnade.read;

import colonnade.format.TableField;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.DataType;

/**
 * The static values that tasks of this process have used last, so that the next task need not read
 * them. A state of a table never changes. Safe for concurrent use by several threads: the first one
 * reads the values, and a thread that comes later waits for it.
 */
final class KeptStatics {
  /** What all tasks of this process have read. It takes at most an eighth of the memory. */
  static final KeptStatics OF_PROCESS = new KeptStatics(Runtime.getRuntime().maxMemory() / 8);

  private final long limit;
  private final Map<Name, Kept> kept = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * What decides the values.
   *
   * @param url the store
   * @param statics where the values are, in JSON
   * @param fields the columns of the key, and then the static columns
   * @param types the types as which Spark reads the static columns
   */
  record Name(String url, String statics, List<TableField> fields, List<DataType> types) {}

  /** Reads the values. */
  interface Load {
    StaticValues read() throws IOException;
  }

  private static final class Kept {
    private StaticValues values;
    /** The bytes that count, which are 0 until the values are read. */
    private long bytes;
  }

  /** Keeps at most about {@code limit} bytes, and at least the values that were used last. */
  KeptStatics(long limit) {
    this.limit = limit;
  }

  /**
   * Returns the values of a name.
   *
   * @throws IOException if reading them fails; a later call tries again
   */
  StaticValues get(Name name, Load load) throws IOException {
    Kept found;
    synchronized (this) {
      found = kept.computeIfAbsent(name, missing -> new Kept());
    }
    synchronized (found) {
      if (found.values == null) {
        found.values = load.read();
        keep(name, found);
      }
      return found.values;
    }
  }

  private synchronized void keep(Name name, Kept read) {
    if (kept.get(name) != read) {
      return; // A thread has made room for the values of another name.
    }
    read.bytes = read.values.byteCount();
    bytes += read.bytes;
    Iterator<Kept> oldest = kept.values().iterator();
    while (bytes > limit && kept.size() > 1) {
      bytes -= oldest.next().bytes;
      oldest.remove();
    }
  }
}
