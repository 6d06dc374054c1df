package colonnade.encodings;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.rowset.Statistics;
import colonnade.read.vector.OneValue;
import colonnade.write.staged.StagedNumbers;

/**
 * Rows that all have one value, which is the exact minimum in the index. 0.0 and -0.0 compare as
 * equal but are different values.
 *
 * <p>Spec: docs/spec/rowset.md#constant
 */
final class ConstantEncoding extends Encoding {
  ConstantEncoding() {
    super("constant");
  }

  @Override
  boolean isStored() {
    return false;
  }

  @Override
  boolean decode(Block block) throws Malformed {
    Statistics found = block.entry().statistics();
    boolean ordered = block.column().order() != TableField.Order.NONE;
    if (found.low() == null || !found.exact() || !ordered) {
      throw new Malformed("its index does not state the one value that it holds");
    }
    OneValue.show(block.column(), found.low(), block.target());
    return true;
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    Statistics found = rows.statistics();
    boolean same =
        found.nulls() + found.nans() == 0
            && found.exact()
            && found.low() != null
            && found.low().compare(found.high()) == 0
            && (!(found.low() instanceof Bound.Real)
                || ((StagedNumbers) rows.column).isSame(rows.from, rows.to));
    return same ? Encoded.WITHOUT_BYTES : null;
  }
}
