package colonnade.read.block;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Decodes a block of indexes into a dictionary.
 *
 * <p>Spec: docs/spec/rowset.md#dictionary
 */
final class DictionaryBlock {
  private DictionaryBlock() {}

  /** Fills the vector of a block whose indexes take {@code width} bytes. */
  static void decode(Decoding.Block block, int width) throws Malformed {
    TableField column = block.column();
    ColonnadeVector target = block.target();
    BatchDecoder values = new BatchDecoder(block.stream().dictionary(), block.zstd());
    int count = values.rows();
    ColonnadeVector dictionary = target.dictionary();
    values.decode(column, dictionary, count);
    if (dictionary.hasNull()) {
      throw new Malformed("its dictionary holds NULL");
    }
    int rows = block.batch().rows();
    block.batch().decodeIndexes(target, width, rows);
    long largest = fill(column, dictionary, count, target);
    if (!checkIndexes(target, width, rows, count)) {
      target.setNull();
    }
    // A few stored bytes can expand to many, because rows repeat the values of the dictionary.
    long decoded = block.entry().decoded();
    if (largest * rows > decoded && repeated(target, rows) > decoded) {
      throw new Malformed("the decoded values would be larger than the index says");
    }
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
}
