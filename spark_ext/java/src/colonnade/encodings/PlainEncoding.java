package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.arrow.StoredForm;

/** The rows themselves, in their storage type. Spec: docs/spec/rowset.md#plain */
final class PlainEncoding extends Encoding {
  PlainEncoding() {
    super("plain");
  }

  @Override
  boolean decode(Block block) throws Malformed {
    TableField column = block.column();
    TableField stored =
        ArrowForms.matches(block.field(), ArrowForms.plain(column))
            ? column
            : StoredForm.of(block.field(), column);
    if (stored == null) {
      return false;
    }
    block.batch().decode(stored, column, block.target(), block.batch().rows());
    return true;
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    rows.column.addPlain(stream, rows.from, rows.to);
    return new Encoded(ArrowForms.plain(rows.column.field), null, null, rows.size);
  }
}
