package colonnade.write.staged;

import colonnade.format.Bound;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.Statistics;
import colonnade.write.refusals.GrowingArrays;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Booleans. Each is staged as a byte and encoded as a bit. */
final class StagedBooleans extends Staged {
  private byte[] values = new byte[1024];

  StagedBooleans(TableField field, String path) {
    super(field, path);
  }

  @Override
  void appendValue(SpecializedGetters from, int ordinal) {
    appendSlot();
    values[rows] = (byte) (from.getBoolean(ordinal) ? 1 : 0);
  }

  @Override
  void appendSlot() {
    values = GrowingArrays.withSlot(values, rows, path);
    values[rows] = 0;
  }

  @Override
  void checkValues() {}

  @Override
  public int slotBytes() {
    return 1;
  }

  @Override
  long valueBytes(int from, int to) {
    return to - from + 7 >> 3;
  }

  @Override
  void addValues(ArrowBatch batch, int from, int to) {
    int length = to - from + 7 >> 3;
    byte[] bitmap = batch.buffer(length);
    Arrays.fill(bitmap, 0, length, (byte) 0);
    for (int row = from; row < to; row++) {
      bitmap[row - from >> 3] |= (byte) (values[row] << (row - from & 7));
    }
  }

  @Override
  public Statistics measure(int from, int to, Dictionary<?> distinct) {
    int low = 1;
    int high = 0;
    for (int row = from; row < to; row++) {
      if (!nulls.get(row)) {
        low = Math.min(low, values[row]);
        high = Math.max(high, values[row]);
      }
    }
    int nullCount = nulls.count(from, to);
    return new Statistics(nullCount, 0, Bound.Whole.of(low), Bound.Whole.of(high), true);
  }

  @Override
  public Comparable<?> sortValue(int row) {
    return nulls.get(row) ? null : Long.valueOf(values[row]);
  }
}
