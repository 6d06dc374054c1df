package colonnade.write.staged;

import colonnade.format.rowset.Statistics;

/**
 * Rows of a column that become a block, with what several encodings ask of them. Each answer is
 * computed once.
 */
final class StagedRows {
  private final BlockEncoder encoder;
  private final Staged column;
  private final int from;
  private final int to;
  private final int nulls;
  private final long size;
  private Statistics statistics;
  private Dictionary<?> dictionary;
  private boolean isDictionaryTried;

  StagedRows(BlockEncoder encoder, Staged column, int from, int to, long size) {
    this.encoder = encoder;
    this.column = column;
    this.from = from;
    this.to = to;
    this.size = size;
    nulls = column.nulls.count(from, to);
  }

  BlockEncoder encoder() {
    return encoder;
  }

  Staged column() {
    return column;
  }

  int from() {
    return from;
  }

  int to() {
    return to;
  }

  int count() {
    return to - from;
  }

  int nulls() {
    return nulls;
  }

  /** Returns the size of the rows as Arrow buffers in bytes. */
  long size() {
    return size;
  }

  /** Returns the statistics of the rows. */
  Statistics statistics() {
    if (statistics == null) {
      statistics = column.measure(this);
    }
    return statistics;
  }

  /** Returns the distinct values of the rows; null where a dictionary is not clearly smaller. */
  Dictionary<?> dictionary() {
    if (!isDictionaryTried) {
      isDictionaryTried = true;
      dictionary = column.dictionary(this);
    }
    return dictionary;
  }
}
