package colonnade.read;

import colonnade.format.ArrowSchema;
import colonnade.format.ArrowStream;
import colonnade.format.BlockEntry;
import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.StoredForm;
import colonnade.format.TableField.Kind;
import colonnade.format.TableField;
import com.github.luben.zstd.ZstdDecompressCtx;
import org.apache.arrow.flatbuf.Field;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Decodes blocks into vectors. Each reader needs its own decoder, because the decoder holds the
 * state of zstd.
 *
 * <p>Spec: docs/spec/rowset.md#block
 */
final class BlockDecoder implements AutoCloseable {
  private static final long MANY_ROWS_LIMIT = 64L << 20;
  private static final long ONE_ROW_LIMIT = (1L << 31) + (1L << 20);

  private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();
  private final Bytes lengths = new Bytes();

  /** Fills a vector with the rows of a block. Compares the bytes with their checksum first. */
  void decode(TableField column, BlockEntry entry, Slice bytes, ColonnadeVector target)
      throws Malformed {
    checkStated(entry);
    target.select(0, null, 0);
    switch (entry.encoding()) {
      case "null" -> target.setNull();
      case "constant" -> ConstantBlock.decode(column, entry.statistics(), target);
      default -> {
        try {
          decodeStream(column, entry, bytes, target);
        } catch (RuntimeException error) {
          throw new Malformed("the Arrow stream cannot be read", error);
        }
      }
    }
  }

  /**
   * Compares the bytes of a block with the checksum in its index. A block of NULL or of a constant
   * has no bytes to compare.
   */
  static void verify(BlockEntry entry, Slice bytes) throws Malformed {
    boolean stored = !entry.encoding().equals("null") && !entry.encoding().equals("constant");
    if (stored && bytes.crc32c() != entry.crc32c()) {
      throw new Malformed("its bytes do not match their checksum");
    }
  }

  private static void checkStated(BlockEntry entry) throws Malformed {
    long limit = limit(entry);
    if (entry.decoded() > limit) {
      throw new Malformed(
          "its index states " + entry.decoded() + " decoded bytes; " + limit + " is the most");
    }
  }

  /** Returns the most bytes that a decoded block may take, whatever its index states. */
  private static long limit(BlockEntry entry) {
    return entry.rows() == 1 ? ONE_ROW_LIMIT : MANY_ROWS_LIMIT;
  }

  /**
   * Finds the messages of a block. Throws {@link Malformed} if its sizes or its row count differ
   * from those stated.
   */
  static ArrowStream parse(BlockEntry entry, Slice bytes) throws Malformed {
    checkStated(entry);
    ArrowStream stream = ArrowStream.parse(bytes, entry.decoded());
    long rows = stream.batch().header().length();
    if (rows != (entry.encoding().equals("lengths") ? 1 : entry.rows())) {
      throw new Malformed(
          "its stream holds " + rows + " rows where its index states " + entry.rows() + " rows, "
              + entry.encoding());
    }
    return stream;
  }

  private void decodeStream(TableField column, BlockEntry entry, Slice bytes, ColonnadeVector to)
      throws Malformed {
    verify(entry, bytes);
    ArrowStream stream = parse(entry, bytes);
    BatchDecoder batch = new BatchDecoder(stream.batch(), zstd);
    Field field = stream.schema().fieldsLength() == 1 ? stream.schema().fields(0) : null;
    if (field == null || !decodeField(column, entry, stream, batch, to)) {
      throw new Malformed(
          "its stream holds " + batch.rows() + " rows of something else than its index states: "
              + entry.rows() + " rows, " + entry.encoding() + ", of " + column.type());
    }
  }

  /**
   * Decodes the field of a block. Returns false if the stream does not have the type that the
   * encoding needs.
   */
  private boolean decodeField(
      TableField column, BlockEntry entry, ArrowStream stream, BatchDecoder batch,
      ColonnadeVector target)
      throws Malformed {
    Field field = stream.schema().fields(0);
    int rows = batch.rows();
    switch (entry.encoding()) {
      case "plain" -> {
        TableField stored =
            ArrowSchema.isColumn(field, column) ? column : StoredForm.of(field, column);
        if (stored == null) {
          return false;
        }
        batch.decode(stored, column, target, rows);
      }
      case "narrowed" -> {
        boolean applies = column.kind().isInteger() || column.isShortDecimal();
        int width = applies ? ArrowSchema.narrowedWidth(field, column) : 0;
        if (width == 0) {
          return false;
        }
        if (entry.base() == null) {
          throw new Malformed("its index lacks the base of its values");
        }
        batch.decodeNarrowed(target, width, rows, entry.base());
      }
      case "lengths" -> {
        int width = ArrowSchema.lengthWidth(field, column);
        if (width == 0) {
          return false;
        }
        batch.decodeLengths(target, lengths, width, entry);
      }
      case "dictionary" -> {
        int width = ArrowSchema.indexWidth(field, column);
        if (width == 0 || stream.dictionary() == null) {
          return false;
        }
        if (column.kind().isNested()) {
          throw new Malformed("dictionaries of nested values cannot be read");
        }
        decodeDictionary(column, entry, stream, target, batch, width);
      }
      default -> throw new Malformed("its encoding " + entry.encoding() + " is unknown");
    }
    return true;
  }

  private void decodeDictionary(
      TableField column, BlockEntry entry, ArrowStream stream, ColonnadeVector target,
      BatchDecoder batch, int width)
      throws Malformed {
    BatchDecoder values = new BatchDecoder(stream.dictionary(), zstd);
    int count = values.rows();
    ColonnadeVector dictionary = target.dictionary();
    values.decode(column, dictionary, count);
    if (dictionary.hasNull()) {
      throw new Malformed("its dictionary holds NULL");
    }
    int rows = batch.rows();
    batch.decodeIndexes(target, width, rows);
    long largest = fill(column, dictionary, count, target);
    if (!checkIndexes(target, width, rows, count)) {
      target.setNull();
    }
    // A few stored bytes can expand to many, because rows repeat the values of the dictionary.
    if (largest * rows > entry.decoded() && repeated(target, rows) > entry.decoded()) {
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

  @Override
  public void close() {
    zstd.close();
  }
}
