package colonnade.write.staged;

import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.arrow.Bits;
import colonnade.write.refusals.Room;
import java.util.Locale;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Every encoding of blocks, and how its bytes are written, in the order in which a writer tries
 * them. Python has the same order. The dispatch is by block, never by value.
 *
 * <p>Spec: docs/spec/rowset.md#encodings
 */
enum Encoding {
  NULL {
    @Override
    EncodedBlock encode(StagedRows rows) {
      return rows.nulls() == rows.count() ? withoutBytes(rows) : null;
    }
  },

  CONSTANT {
    @Override
    EncodedBlock encode(StagedRows rows) {
      return rows.column().isConstant(rows) ? withoutBytes(rows) : null;
    }
  },

  DICTIONARY {
    @Override
    EncodedBlock encode(StagedRows rows) {
      Dictionary<?> values = rows.dictionary();
      if (values == null) {
        return null;
      }
      ArrowBatch dictionary = rows.encoder().dictionaryBatch();
      values.addTo(dictionary);
      int width = values.indexWidth();
      ArrowBatch batch = rows.encoder().batch();
      batch.node(rows.count(), rows.nulls());
      rows.column().addValidity(batch, rows.from(), rows.to(), rows.nulls());
      byte[] target = batch.buffer(rows.count() * width);
      Words.writeIndices(values.ids(), rows.count(), width, target);
      Field field = ArrowForms.indexes(rows.column().field, width);
      return rows.encoder().write(this, rows, width, field, null, dictionary);
    }
  },

  NARROWED {
    @Override
    EncodedBlock encode(StagedRows rows) {
      int width = rows.column() instanceof StagedNumbers some ? some.narrowedWidth(rows) : 0;
      if (width == 0) {
        return null;
      }
      StagedNumbers column = (StagedNumbers) rows.column();
      long base = width == 8 ? 0 : StagedNumbers.low(rows);
      ArrowBatch batch = rows.encoder().batch();
      batch.node(rows.count(), rows.nulls());
      column.addValidity(batch, rows.from(), rows.to(), rows.nulls());
      byte[] target = batch.buffer(rows.count() * width);
      Words.write(column.values, rows.from(), rows.to(), base, width, target);
      if (rows.nulls() > 0) {
        // The value under a NULL is unspecified. Zeros compress well and reveal nothing.
        Words.eraseNulls(column.nulls, rows.from(), rows.to(), width, target);
      }
      Field field = ArrowForms.narrowed(column.field, width);
      return rows.encoder().write(this, rows, width, field, base, null);
    }
  },

  LENGTHS {
    @Override
    EncodedBlock encode(StagedRows rows) {
      boolean many = rows.count() >= rows.encoder().choices().limit(this, "from_rows");
      if (!many || !(rows.column() instanceof StagedTexts column)) {
        return null;
      }
      int width = column.lengthsWidth(rows.from(), rows.to());
      ArrowBatch batch = rows.encoder().batch();
      batch.node(1, 0);
      batch.emptyBuffer();
      addOne(batch, rows.count());
      batch.node(rows.count(), rows.nulls());
      column.addValidity(batch, rows.from(), rows.to(), rows.nulls());
      byte[] target = batch.buffer(Room.bytes(rows.count(), width, column.path));
      column.writeLengths(rows.from(), rows.to(), width, target);
      addOne(batch, column.end(rows.to() - 1) - column.start(rows.from()));
      column.addBytes(batch, rows.from(), rows.to());
      Field field = ArrowForms.lengths(column.field, width);
      return rows.encoder().write(this, rows, width, field, null, null);
    }

    /** Begins an array of one value that has {@code elements} elements or bytes. */
    private static void addOne(ArrowBatch batch, int elements) {
      batch.node(1, 0);
      batch.emptyBuffer();
      byte[] ends = batch.buffer(8);
      Bits.putInt(ends, 0, 0);
      Bits.putInt(ends, 4, elements);
    }
  },

  PLAIN {
    @Override
    EncodedBlock encode(StagedRows rows) {
      rows.column().addPlain(rows.encoder().batch(), rows.from(), rows.to());
      Field field = ArrowForms.plain(rows.column().field);
      return rows.encoder().write(this, rows, 0, field, null, null);
    }
  };

  /** Returns the name of the encoding in the index. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Encodes rows. Returns null where the encoding does not apply, or does not gain. */
  abstract EncodedBlock encode(StagedRows rows);

  /** Returns a block that the index alone describes. */
  final EncodedBlock withoutBytes(StagedRows rows) {
    return EncodedBlock.empty(text(), rows.count(), rows.size(), rows.statistics());
  }
}
