package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.arrow.Bits;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.vector.BatchDecoder;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.VectorForm;
import colonnade.write.staged.StagedTexts;
import java.util.List;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/**
 * Strings or binary as their lengths, in 1, 2 or 4 bytes each, and all their bytes. The stream has
 * a single row, which contains both.
 *
 * <p>Spec: docs/spec/rowset.md#lengths
 */
final class LengthsEncoding extends Encoding {
  LengthsEncoding() {
    super("lengths");
  }

  private static Field form(TableField column, int width) {
    FieldType length = FieldType.nullable(new ArrowType.Int(8 * width, false));
    List<Field> lengths = List.of(new Field("item", length, List.of()));
    return ArrowForms.named(
        column,
        ArrowType.Struct.INSTANCE,
        List.of(
            ArrowForms.required("lengths", ArrowType.List.INSTANCE, lengths),
            ArrowForms.required("values", ArrowForms.type(column), List.of())));
  }

  @Override
  long streamRows(BlockEntry entry) {
    return 1;
  }

  @Override
  boolean decode(Block block) throws Malformed {
    Kind kind = block.column().kind();
    boolean applies = kind == Kind.UTF8 || kind == Kind.BINARY;
    int width = applies ? block.width(LengthsEncoding::form, 1, 2, 4) : 0;
    if (width == 0) {
      return false;
    }
    BatchDecoder batch = block.batch();
    ColonnadeVector target = block.target();
    Bytes lengths = block.scratch();
    loadValue(batch, target);
    int rows = loadExtent(batch, target);
    if (rows != block.entry().rows()) {
      throw new Malformed(
          "it holds " + rows + " lengths where its index states " + block.entry().rows() + " rows");
    }
    boolean hasNulls = batch.loadNode(target, rows);
    batch.load(lengths, (long) width * rows);
    if (hasNulls && lengths.anyUnderNull(target.validityBytes, rows, width)) {
      throw new Malformed("it has bytes under a NULL");
    }
    int size = loadExtent(batch, target);
    batch.load(target.valueBytes, size);
    if (4L * rows + size > block.entry().decoded()) {
      throw new Malformed("the decoded values would be larger than the index says");
    }
    if (target.offsetBytes.addUp(lengths, rows, width) != size) {
      throw new Malformed("its lengths do not add up to its bytes");
    }
    target.setLoaded(VectorForm.TEXT, hasNulls);
    return true;
  }

  /** Begins to load an array of one value. Throws {@link Malformed} if the value is NULL. */
  private static void loadValue(BatchDecoder batch, ColonnadeVector target) throws Malformed {
    if (batch.loadNode(target, 1)) {
      throw new Malformed("its lengths or its values are NULL");
    }
  }

  /** Begins to load an array of one list or text. Returns its number of elements or bytes. */
  private static int loadExtent(BatchDecoder batch, ColonnadeVector target) throws Malformed {
    loadValue(batch, target);
    batch.loadOffsets(target, 1);
    BatchDecoder.checkOffsets(target.offsetBytes, 1, Integer.MAX_VALUE);
    if (target.offsetBytes.getInt(0) != 0) {
      throw new Malformed("its lengths or its values do not begin at the first");
    }
    return target.offsetBytes.getInt(1);
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    boolean many = rows.count() >= rows.encoder.choices().limit("lengths", "from_rows");
    if (!many || !(rows.column instanceof StagedTexts column)) {
      return null;
    }
    int width = width(column, rows.from, rows.to);
    stream.node(1, 0);
    stream.emptyBuffer();
    addOne(stream, rows.count());
    write(column, rows.from, rows.to, width, rows.addWords(stream, width));
    addOne(stream, column.end(rows.to - 1) - column.start(rows.from));
    column.addBytes(stream, rows.from, rows.to);
    return new Encoded(form(column.field, width), null, null, stream.size());
  }

  /** Begins an array of one value that has {@code elements} elements or bytes. */
  private static void addOne(ArrowBatch stream, int elements) {
    stream.node(1, 0);
    stream.emptyBuffer();
    byte[] ends = stream.buffer(8);
    Bits.putInt(ends, 0, 0);
    Bits.putInt(ends, 4, elements);
  }

  /** Returns the bytes that the length of the longest value takes. */
  private static int width(StagedTexts column, int from, int to) {
    int longest = 0;
    for (int row = from; row < to; row++) {
      longest = Math.max(longest, column.end(row) - column.start(row));
    }
    return longest < 1 << 8 ? 1 : longest < 1 << 16 ? 2 : 4;
  }

  /** Writes the length of each value in {@code width} bytes; a NULL has length 0. */
  private static void write(StagedTexts column, int from, int to, int width, byte[] target) {
    for (int row = from, at = 0; row < to; row++, at += width) {
      int length = column.end(row) - column.start(row);
      switch (width) {
        case 1 -> target[at] = (byte) length;
        case 2 -> Bits.putShort(target, at, (short) length);
        default -> Bits.putInt(target, at, length);
      }
    }
  }
}
