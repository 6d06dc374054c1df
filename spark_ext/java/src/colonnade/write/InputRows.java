package colonnade.write;

import java.util.TreeMap;

/**
 * Maps the rows that a writer received to their numbers in the task's input, as runs. A writer of
 * one partition receives only some of the input.
 */
final class InputRows {
  /**
   * The first input row of each run. The key is the number of rows that the writer received before
   * the run.
   */
  private final TreeMap<Long, Long> runs = new TreeMap<>();

  private long next = -1;

  /** Records that the writer receives input row {@code input} after {@code taken} other rows. */
  void add(long taken, long input) {
    if (input != next) {
      runs.put(taken, input);
    }
    next = input + 1;
  }

  /**
   * Returns the number of the input row that the writer received after {@code taken} other rows.
   */
  long at(long taken) {
    var run = runs.floorEntry(taken);
    return run.getValue() + taken - run.getKey();
  }

  /** Forgets the runs that end before row {@code taken}. */
  void forget(long taken) {
    Long first = runs.floorKey(taken);
    if (first != null) {
      runs.headMap(first).clear();
    }
  }
}
