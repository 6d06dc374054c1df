package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowForms;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import colonnade.write.staged.Dictionary;
import colonnade.write.staged.EncodingChoices;
import colonnade.write.staged.Staged;
import colonnade.write.staged.StagedBlobs;
import colonnade.write.staged.StagedNumbers;
import colonnade.write.staged.Words;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Repeated values once, with an index of 8, 16 or 32 bits for each row. The index of a NULL row is
 * NULL. Floats with different bits are different values.
 *
 * <p>Spec: docs/spec/rowset.md#dictionary
 */
final class DictionaryEncoding extends Encoding {
  DictionaryEncoding() {
    super("dictionary");
  }

  private static Field form(TableField column, int width) {
    Field plain = ArrowForms.plain(column);
    // The id of the dictionary is always 0, because a stream has only one.
    var indexes =
        new org.apache.arrow.vector.types.pojo.DictionaryEncoding(
            0, false, new ArrowType.Int(8 * width, true));
    FieldType type = new FieldType(true, plain.getType(), indexes);
    return new Field(plain.getName(), type, plain.getChildren());
  }

  @Override
  boolean decode(Block block) throws Malformed {
    int width = block.width(DictionaryEncoding::form, 1, 2, 4);
    if (width == 0 || block.dictionary() == null) {
      return false;
    }
    TableField column = block.column();
    if (column.kind().isNested()) {
      throw new Malformed("dictionaries of nested values cannot be read");
    }
    ColonnadeVector target = block.target();
    ColonnadeVector dictionary = target.dictionary();
    int count = block.dictionary().rows();
    block.dictionary().decode(column, dictionary, count);
    if (dictionary.hasNull()) {
      throw new Malformed("its dictionary holds NULL");
    }
    int rows = block.batch().rows();
    target.setIndexes(width, block.batch().loadWords(target, width, rows));
    long largest = fill(column, dictionary, count, target);
    if (!checkIndexes(target, width, rows, count)) {
      target.setNull();
    }
    // A few stored bytes can expand to many, because rows repeat the values of the dictionary.
    long decoded = block.entry().decoded();
    if (largest * rows > decoded && repeated(target, rows) > decoded) {
      throw new Malformed("the decoded values would be larger than the index says");
    }
    return true;
  }

  /**
   * Copies the dictionary into a vector. Returns the length of its longest text in bytes, or 0 for
   * numbers.
   */
  private static long fill(
      TableField column, ColonnadeVector from, int count, ColonnadeVector target) {
    if (column.kind() == Kind.UTF8 || column.kind() == Kind.BINARY) {
      UTF8String[] texts = target.texts(count);
      long largest = 0;
      for (int i = 0; i < count; i++) {
        texts[i] = from.getUTF8String(i);
        largest = Math.max(largest, texts[i].numBytes());
      }
      return largest;
    }
    if (column.kind() == Kind.DECIMAL && !column.isShortDecimal()) {
      long[] words = target.numbers(2 * count);
      for (int i = 0; i < 2 * count; i++) {
        words[i] = from.valueBytes.getLong(i);
      }
      return 0;
    }
    long[] numbers = target.numbers(count);
    for (int i = 0; i < count; i++) {
      numbers[i] = column.kind() == Kind.BOOLEAN ? (from.getBoolean(i) ? 1 : 0) : from.getLong(i);
    }
    return 0;
  }

  /**
   * Checks that the index of every row that is not NULL lies inside the dictionary. Returns false
   * if no index does, which means that every row is NULL.
   */
  private static boolean checkIndexes(ColonnadeVector target, int width, int rows, int count)
      throws Malformed {
    Bytes indexes = target.valueBytes;
    if (indexes.largest(rows, width) < count) {
      return true;
    }
    boolean any = false;
    for (int i = 0; i < rows; i++) {
      boolean inside = indexes.getUnsigned(i, width) < count;
      if (!inside && !target.isNullAt(i)) {
        throw new Malformed("an index points outside the dictionary");
      }
      if (!inside) {
        // Rows that are NULL are read too, so an index outside the dictionary becomes 0.
        indexes.clear(i, width);
      }
      any |= inside;
    }
    return any;
  }

  private static long repeated(ColonnadeVector target, int rows) {
    long total = 0;
    for (int i = 0; i < rows; i++) {
      total += target.isNullAt(i) ? 0 : target.getUTF8String(i).numBytes();
    }
    return total;
  }

  @Override
  Encoded encode(StagedRows rows, ArrowBatch stream) {
    Dictionary<?> values = rows.dictionary();
    if (values == null) {
      return null;
    }
    int width = values.indexWidth();
    Words.writeIndices(values.ids(), rows.count(), width, rows.addWords(stream, width));
    ArrowBatch dictionary = values.values();
    long size = stream.size() + dictionary.size();
    return new Encoded(form(rows.column.field, width), null, dictionary, size);
  }

  /** Returns the distinct values of rows; null where a dictionary is not clearly smaller. */
  static Dictionary<?> distinct(StagedRows rows) {
    EncodingChoices choices = rows.encoder.choices();
    if (rows.column instanceof StagedBlobs texts) {
      double share = choices.limit("dictionary", "distinct_texts");
      return build(rows, rows.encoder.bytesDictionary(), texts, share, rows.size);
    }
    if (!(rows.column instanceof StagedNumbers numbers)) {
      return null;
    }
    int narrowed = NarrowedEncoding.width(rows);
    int least = narrowed == 0 ? numbers.width : narrowed;
    if (least == 1) {
      return null;
    }
    double share =
        least > 2
            ? choices.limit("dictionary", "distinct_numbers")
            : choices.limit("dictionary", "distinct_shorts");
    long rival = (long) rows.count() * least + (rows.nulls > 0 ? rows.count() + 7 >> 3 : 0);
    return build(rows, rows.encoder.longDictionary(), numbers, share, rival);
  }

  private static <C extends Staged> Dictionary<C> build(
      StagedRows rows, Dictionary<C> empty, C column, double share, long rivalBytes) {
    return empty.build(column, rows.from, rows.to, share, rivalBytes) ? empty : null;
  }
}
