package colonnade.encodings;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowForms;
import colonnade.write.staged.StagedNumbers;
import colonnade.write.staged.Words;
import java.util.List;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Integers as their distance from the smallest one, in 1, 2 or 4 bytes. Short decimals whose range
 * needs more take 8 bytes, with base 0.
 *
 * <p>Spec: docs/spec/rowset.md#narrowed
 */
final class NarrowedEncoding extends Encoding {
  NarrowedEncoding() {
    super("narrowed");
  }

  private static Field form(TableField column, int width) {
    return ArrowForms.named(column, new ArrowType.Int(8 * width, width == 8), List.of());
  }

  @Override
  boolean decode(Block block) throws Malformed {
    TableField column = block.column();
    int width = column.kind().isInteger() ? block.width(NarrowedEncoding::form, 1, 2, 4) : 0;
    if (column.isShortDecimal()) {
      width = block.width(NarrowedEncoding::form, 1, 2, 4, 8);
    }
    if (width == 0) {
      return false;
    }
    Long base = block.entry().base();
    if (base == null) {
      throw new Malformed("its index lacks the base of its values");
    }
    boolean hasNulls = block.batch().loadWords(block.target(), width, block.batch().rows());
    block.target().setIntegers(width, width == 8, base, hasNulls);
    return true;
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    int width = width(rows);
    if (width == 0) {
      return null;
    }
    StagedNumbers column = (StagedNumbers) rows.column;
    long base = width == 8 ? 0 : whole(rows.statistics().low());
    byte[] target = rows.addWords(stream, width);
    Words.write(column.values, rows.from, rows.to, base, width, target);
    if (rows.nulls > 0) {
      // The value under a NULL is unspecified. Zeros compress well and reveal nothing.
      Words.eraseNulls(column.nulls, rows.from, rows.to, width, target);
    }
    return new Encoded(form(column.field, width), base, null, stream.size());
  }

  /**
   * Returns the bytes of a narrowed value; 0 if the rows are not integers, or keep their full
   * width.
   */
  static int width(StagedRows rows) {
    if (!(rows.column instanceof StagedNumbers column)
        || !(rows.statistics().low() instanceof Bound.Whole low)) {
      return 0;
    }
    long distance = whole(rows.statistics().high()) - whole(low);
    // Arrow stores short decimals in 16 bytes, but they are integers of 8 bytes.
    int integerWidth = Math.min(column.width, 8);
    for (int narrow = 1; narrow < integerWidth && narrow <= 4; narrow *= 2) {
      if (Long.compareUnsigned(distance, 1L << 8 * narrow) < 0) {
        return narrow;
      }
    }
    return column.width == 16 ? 8 : 0;
  }

  private static long whole(Bound bound) {
    return ((Bound.Whole) bound).value().longValue();
  }
}
