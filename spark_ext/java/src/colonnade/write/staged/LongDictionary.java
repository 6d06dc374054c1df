package colonnade.write.staged;

/** The distinct values of a block of numbers. Floats are distinct if their bits differ. */
final class LongDictionary extends Dictionary<StagedNumbers> {
  LongDictionary(EncodingChoices choices) {
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

  /** Returns the distinct values. */
  long[] values(StagedNumbers column) {
    long[] values = new long[count()];
    for (int id = 0; id < values.length; id++) {
      values[id] = column.values[firstRow(id)];
    }
    return values;
  }
}
