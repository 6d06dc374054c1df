package colonnade.write;

import java.util.TreeMap;

/** Which rows of a task's input a writer got, as runs: a writer of one partition gets some only. */
final class InputRows {
  /** The first row of each run, by how many rows this writer got before it. */
  private final TreeMap<Long, Long> runs = new TreeMap<>();

  private long next = -1;

  /** The writer gets row {@code input} after {@code taken} others. */
  void add(long taken, long input) {
    if (input != next) {
      runs.put(taken, input);
    }
    next = input + 1;
  }

  /** The input's row that the writer got after {@code taken} others. */
  long at(long taken) {
    var run = runs.floorEntry(taken);
    return run.getValue() + taken - run.getKey();
  }

  /** Forget the rows before {@code taken}. */
  void forget(long taken) {
    Long first = runs.floorKey(taken);
    if (first != null) {
      runs.headMap(first).clear();
    }
  }
}
