package colonnade.encodings;

import colonnade.format.arrow.ArrowBatch;

/** Rows that are all NULL, which take no bytes. Spec: docs/spec/rowset.md#null */
final class NullEncoding extends Encoding {
  NullEncoding() {
    super("null");
  }

  @Override
  boolean isStored() {
    return false;
  }

  @Override
  boolean decode(Block block) {
    block.target().setNull();
    return true;
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    return rows.nulls == rows.count() ? Encoded.WITHOUT_BYTES : null;
  }
}
