package colonnade.write.staged;

import colonnade.format.arrow.ArrowBatch;

/** The distinct values of a block of numbers. Floats are distinct if their bits differ. */
public final class LongDictionary extends Dictionary<StagedNumbers> {
  public LongDictionary(EncodingChoices choices) {
    super(choices);
  }

  @Override
  int hash(StagedNumbers column, int row) {
    return (int) mix(column.values[row]);
  }

  @Override
  boolean isSame(StagedNumbers column, int left, int right) {
    return column.values[left] == column.values[right];
  }

  @Override
  int bytesOf(StagedNumbers column, int row) {
    return column.width;
  }

  @Override
  void addValues(StagedNumbers column, ArrowBatch batch) {
    long[] values = new long[count()];
    for (int id = 0; id < values.length; id++) {
      values[id] = column.values[firstRow(id)];
    }
    batch.node(values.length, 0);
    batch.emptyBuffer();
    byte[] target = batch.buffer(values.length * column.width);
    Words.write(values, 0, values.length, 0, column.width, target);
  }
}
