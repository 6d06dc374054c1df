package colonnade.read.block;

import colonnade.encodings.BlockDecoder;
import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.vector.Adapt;
import colonnade.read.vector.ColonnadeVector;
import java.io.IOException;
import org.roaringbitmap.RoaringBitmap;

/** One column of a task: its vector and its current block in the current stretch. */
public final class DataColumn {
  public final ColonnadeVector vector;

  private final TableField field;
  private OpenColumnSegment segment;
  private Slice bytes;
  private RoaringBitmap masked;
  /**
   * The number of the current block, the number of the block that the vector holds, and the
   * position of the current block in {@code bytes}.
   */
  private int block;
  private int decoded;
  private int offset;

  public DataColumn(TableField field, ColonnadeVector vector) {
    this.field = field;
    this.vector = vector;
  }

  /**
   * Moves to the first block of a stretch. {@code newSegment} is null if the RowSet does not have
   * the column. {@code newMasked} has the rows whose values count as NULL, or is null without any.
   *
   * <p>If the stretch has several blocks, compares all of them with their checksums now. So no row
   * of the stretch is returned if a later block is damaged.
   */
  public void enter(OpenColumnSegment newSegment, int cut, Slice newBytes, RoaringBitmap newMasked)
      throws IOException {
    segment = newSegment;
    bytes = newBytes;
    masked = newMasked;
    decoded = -1;
    offset = 0;
    block = newSegment == null ? 0 : newSegment.atCut()[cut];
    int end = newSegment == null ? 0 : newSegment.atCut()[cut + 1];
    for (int each = block, at = 0; end - block > 1 && each < end; each++) {
      BlockEntry entry = newSegment.index().entries().get(each);
      verify(each, newBytes.part(at, (int) entry.length()));
      at += (int) entry.length();
    }
  }

  private void verify(int number, Slice stored) throws IOException {
    try {
      BlockDecoder.verify(segment.index().entries().get(number), stored);
    } catch (Malformed error) {
      throw segment.damaged(number, error);
    }
  }

  /**
   * Returns the row after the end of the block that holds {@code row}. Requires: successive calls
   * have ascending rows.
   */
  public long blockEnd(long row) {
    if (segment == null) {
      return Long.MAX_VALUE;
    }
    long[] rows = segment.index().firstRows();
    while (rows[block + 1] <= row) {
      offset += (int) segment.index().entries().get(block).length();
      block++;
    }
    return rows[block + 1];
  }

  private void decode(BlockDecoder decoder) throws IOException {
    BlockEntry entry = segment.index().entries().get(block);
    try {
      decode(decoder, entry, bytes.part(offset, (int) entry.length()));
      if (masked != null && !vector.isUniform()) {
        vector.mask(masked, segment.index().firstRows()[block], (int) entry.rows());
      }
    } catch (Malformed error) {
      throw segment.damaged(block, error);
    }
    decoded = block;
  }

  private void decode(BlockDecoder decoder, BlockEntry entry, Slice block) throws Malformed {
    TableField stored = segment.column();
    if (Adapt.looksAlike(stored, field)) {
      decoder.decode(stored, entry, block, vector);
      return;
    }
    decoder.decode(stored, entry, block, vector.narrower());
    Adapt.widen(stored, field, vector.narrower(), (int) entry.rows(), vector);
  }

  /**
   * Decodes the current block unless the vector already holds it. Then shows the rows of the block
   * that {@code kept} names, or all {@code count} rows from {@code first} on if it is null.
   */
  public void show(BlockDecoder decoder, long first, int count, int[] kept) throws IOException {
    if (segment == null) {
      Adapt.showAbsent(field, vector);
    } else if (decoded != block) {
      decode(decoder);
    }
    if (masked != null && vector.isUniform()) {
      vector.mask(masked, first, count);
    }
    boolean same = segment == null || vector.isUniform();
    int start = same ? 0 : (int) (first - segment.index().firstRows()[block]);
    vector.select(start, kept, kept == null ? count : kept.length);
  }
}
