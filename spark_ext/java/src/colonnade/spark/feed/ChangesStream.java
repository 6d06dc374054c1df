package colonnade.spark.feed;

import colonnade.planner.ColonnadeException;
import colonnade.spark.streams.StreamTable;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * The changes of a table for {@code STREAM t CHANGES} and {@code spark.readStream.changes(t)} of
 * Spark 4.2 and later, which ask for them as for changes that are read once.
 *
 * @param path that of the table
 * @param options those of the stream, and its first epoch
 * @param possible whether a stream can show what was asked for
 */
record ChangesStream(String path, Map<String, String> options, boolean possible) {
  /** Returns these changes with the options of a stream among those of a scan. */
  ChangesStream with(Map<String, String> scan) {
    Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    all.putAll(options);
    for (String name : StreamTable.OPTIONS) {
      if (scan.containsKey(name)) {
        all.put(name, scan.get(name));
      }
    }
    return new ChangesStream(path, all, possible);
  }

  /**
   * Returns the batches of the stream. Refuses what no stream has: an end, a first epoch that is
   * left out, and net changes.
   */
  MicroBatchStream batches(StructType columns, StructType readSchema, String checkpoint) {
    if (!possible) {
      throw ColonnadeException.invalid(
          "A stream of the changes of table %s has neither an end nor net changes, and its first"
              + " epoch belongs to it; leave out TO, EXCLUSIVE and deduplicationMode.",
          path);
    }
    options.put("readChangeFeed", "true");
    return StreamTable.load(path, options).batches(columns, readSchema, checkpoint);
  }

  /** Refuses the options of a stream for changes that are read once. */
  void refuseOptions() {
    StreamTable.OPTIONS.stream()
        .filter(options::containsKey)
        .findFirst()
        .ifPresent(
            name -> {
              throw ColonnadeException.invalid("Option %s is for a stream of changes.", name);
            });
  }
}
