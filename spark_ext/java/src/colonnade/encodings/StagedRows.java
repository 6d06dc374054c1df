package colonnade.encodings;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.Statistics;
import colonnade.write.staged.Dictionary;
import colonnade.write.staged.Staged;
import colonnade.write.staged.StagedBlobs;

/**
 * Rows of a column that become a block, with what several encodings ask of them. Each answer is
 * computed once.
 */
final class StagedRows {
  final BlockEncoder encoder;
  final Staged column;
  final int from;
  final int to;
  final int nulls;

  /** The size of the rows as Arrow buffers in bytes. */
  final long size;

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

  int count() {
    return to - from;
  }

  /**
   * Adds the rows as an array with values of {@code width} bytes. Returns their buffer, which the
   * caller must fill.
   */
  byte[] addWords(ArrowBatch batch, int width) {
    return column.addWords(batch, from, to, width);
  }

  /** Returns the statistics of the rows, as the index states them. */
  Statistics statistics() {
    if (statistics == null) {
      statistics =
          nulls == count()
              ? Statistics.unbounded(nulls, 0, column.field.order() != TableField.Order.NONE)
              : column.measure(from, to, column instanceof StagedBlobs ? dictionary() : null);
    }
    return statistics;
  }

  /** Returns the distinct values of the rows; null where a dictionary is not clearly smaller. */
  Dictionary<?> dictionary() {
    if (!isDictionaryTried) {
      isDictionaryTried = true;
      dictionary = DictionaryEncoding.distinct(this);
    }
    return dictionary;
  }
}
