package colonnade.store.hadoop;

import colonnade.store.ByteSink;
import colonnade.store.ByteSource;
import colonnade.store.LocalSink;
import colonnade.store.LocalSource;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Opens stores by their URLs: a local folder directly, and every other store through Hadoop. */
public final class Stores {
  private static final Pattern PROTOCOL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*(?:://|::).*");
  private static final Pattern LOCAL = Pattern.compile("(?:file|local):(?://(?=/))?(.*)");

  private Stores() {}

  /** Returns what reads a store. Does no I/O. */
  public static ByteSource source(String url, Map<String, String> hadoopConf) {
    String path = url.startsWith("file://") ? url.substring(7) : url;
    return path.startsWith("/") ? new LocalSource(path) : new HadoopSource(url, hadoopConf);
  }

  /**
   * Returns what writes to a store. Does no I/O. Requires: the planner has found that the store can
   * be written.
   */
  public static ByteSink sink(String url, Map<String, String> hadoopConf) {
    Matcher local = LOCAL.matcher(url);
    if (local.matches()) {
      return new LocalSink(local.group(1));
    }
    return PROTOCOL.matcher(url).matches()
        ? new HadoopSink(url, hadoopConf)
        : new LocalSink(url);
  }
}
