package colonnade.write.staged;

import colonnade.format.ArrowBatch;
import colonnade.format.ArrowField;
import colonnade.format.ArrowStreamWriter;
import colonnade.format.ArrowType;
import colonnade.format.Bits;
import colonnade.format.BlockEntry;
import colonnade.format.Statistics;
import colonnade.format.TableField;
import colonnade.read.BlockCheck;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Encodes rows of a column as blocks. It writes the bytes of each encoding, while each kind of
 * column chooses the encoding.
 *
 * <p>Holds about one decoded block. Spec: docs/spec/rowset.md#encodings
 */
public final class BlockEncoder implements AutoCloseable {
  private final EncodingChoices choices;
  private final ArrowStreamWriter stream;
  private final ArrowBatch batch = new ArrowBatch();
  private final ArrowBatch dictionaryBatch = new ArrowBatch();
  private final LongDictionary longDictionary;
  private final BytesDictionary bytesDictionary;
  private final Map<String, byte[]> schemas = new HashMap<>();

  /** Creates an encoder with the choices of a task. */
  public BlockEncoder(EncodingChoices choices) {
    this.choices = choices;
    stream =
        new ArrowStreamWriter(
            choices.compressionLevel(), choices.compressFromBytes(), choices.compressedShare());
    longDictionary = new LongDictionary(choices);
    bytesDictionary = new BytesDictionary(choices);
  }

  /** Returns when this encoder chooses which encoding. */
  public EncodingChoices choices() {
    return choices;
  }

  /** Encodes at least one row of a column. */
  public EncodedBlock encode(Staged column, int from, int to) {
    long size = column.sizeBytes(from, to);
    if (size > Integer.MAX_VALUE - (1 << 26)) {
      throw Refusal.tooLarge(column.path, size);
    }
    int nullCount = column.nulls.count(from, to);
    if (nullCount == to - from) {
      boolean exact = column.field.order() != TableField.Order.NONE;
      Statistics statistics = Statistics.unbounded(nullCount, 0, exact);
      return EncodedBlock.empty("null", to - from, size, statistics);
    }
    return column.encode(this, from, to);
  }

  /** Returns an empty dictionary, which is valid until the next block. */
  LongDictionary longDictionary() {
    return longDictionary;
  }

  /** Returns an empty dictionary, which is valid until the next block. */
  BytesDictionary bytesDictionary() {
    return bytesDictionary;
  }

  /** Encodes rows that all have the same value. The index states it as the exact minimum. */
  EncodedBlock constant(Staged column, int from, int to, Statistics statistics) {
    long size = column.sizeBytes(from, to);
    return EncodedBlock.empty("constant", to - from, size, statistics);
  }

  /** Encodes rows as the plain Arrow array of the column. */
  EncodedBlock plain(Staged column, int from, int to, Statistics statistics) {
    batch.clear();
    column.addPlain(batch, from, to);
    long size = column.sizeBytes(from, to);
    byte[] schema = schema(column, "plain", column.arrow());
    byte[] data = stream.encode(schema, null, batch, size);
    return block("plain", column, from, to, null, statistics, data);
  }

  /**
   * Encodes strings or binary as lengths of {@code width} bytes, followed by all bytes back to
   * back.
   */
  EncodedBlock lengths(StagedTexts column, int from, int to, Statistics statistics, int width) {
    int rows = to - from;
    batch.clear();
    batch.node(1, 0);
    batch.emptyBuffer();
    addOne(rows);
    batch.node(rows, (int) statistics.nulls());
    column.addValidity(batch, from, to, (int) statistics.nulls());
    column.writeLengths(from, to, width, batch.buffer(Room.bytes(rows, width, column.path)));
    addOne(column.end(to - 1) - column.start(from));
    column.addBytes(batch, from, to);
    byte[] schema = schema(column, "lengths" + width, column.lengthsField(width));
    byte[] data = stream.encode(schema, null, batch, batch.size());
    return block("lengths", column, from, to, null, statistics, data);
  }

  /** Begins an array of one value that has {@code elements} elements or bytes. */
  private void addOne(int elements) {
    batch.node(1, 0);
    batch.emptyBuffer();
    byte[] ends = batch.buffer(8);
    Bits.putInt(ends, 0, 0);
    Bits.putInt(ends, 4, elements);
  }

  /** Encodes integers as their distance from {@code base}, in {@code width} bytes. */
  EncodedBlock narrowed(
      StagedNumbers column, int from, int to, Statistics statistics, int width, long base) {
    int rows = to - from;
    int nullCount = (int) statistics.nulls();
    batch.clear();
    batch.node(rows, nullCount);
    column.addValidity(batch, from, to, nullCount);
    byte[] target = batch.buffer(rows * width);
    Words.write(column.values, from, to, base, width, target);
    if (nullCount > 0) {
      // The value under a NULL is unspecified. Zeros compress well and reveal nothing.
      Words.eraseNulls(column.nulls, from, to, width, target);
    }
    ArrowType type = width == 8 ? ArrowType.signed(64) : ArrowType.unsigned(8 * width);
    byte[] schema = schema(column, "narrowed" + width, column.arrow().withType(type));
    byte[] data = stream.encode(schema, null, batch, batch.size());
    return block("narrowed", column, from, to, base, statistics, data);
  }

  /** Encodes numbers as indexes into a dictionary. */
  EncodedBlock dictionary(
      StagedNumbers column, int from, int to, Statistics statistics, LongDictionary values) {
    int count = values.count();
    dictionaryBatch.clear();
    dictionaryBatch.node(count, 0);
    dictionaryBatch.emptyBuffer();
    byte[] target = dictionaryBatch.buffer(count * column.width);
    Words.write(values.values(column), 0, count, 0, column.width, target);
    return indexed(column, from, to, statistics, values);
  }

  /** Encodes strings, binary or long decimals as indexes into a dictionary. */
  EncodedBlock dictionary(
      StagedBlobs column, int from, int to, Statistics statistics, BytesDictionary values) {
    dictionaryBatch.clear();
    column.addDictionary(dictionaryBatch, values);
    return indexed(column, from, to, statistics, values);
  }

  /** Encodes indexes into the dictionary in {@code dictionaryBatch}. */
  private EncodedBlock indexed(
      Staged column, int from, int to, Statistics statistics, Dictionary<?> values) {
    int rows = to - from;
    int width = values.indexWidth();
    batch.clear();
    batch.node(rows, (int) statistics.nulls());
    column.addValidity(batch, from, to, (int) statistics.nulls());
    Words.writeIndices(values.ids(), rows, width, batch.buffer(rows * width));
    ArrowField shown = column.arrow().withDictionary(8 * width);
    byte[] schema = schema(column, "dictionary" + width, shown);
    long size = batch.size() + dictionaryBatch.size();
    byte[] data = stream.encode(schema, dictionaryBatch, batch, size);
    return block("dictionary", column, from, to, null, statistics, data);
  }

  /** Writes the index of a segment as a stream of one batch. */
  public byte[] index(List<ArrowField> fields, ArrowBatch rows) {
    return stream.encode(stream.schema(fields), null, rows, rows.size());
  }

  @Override
  public void close() {
    stream.close();
  }

  private byte[] schema(Staged column, String kind, ArrowField shown) {
    String key = column.storageName() + kind;
    return schemas.computeIfAbsent(key, any -> stream.schema(List.of(shown)));
  }

  /**
   * Returns the block. Its decoded size is that of the stream, or of the rows as a plain Arrow
   * array if this is larger.
   */
  private EncodedBlock block(
      String encoding,
      Staged column,
      int from,
      int to,
      Long base,
      Statistics statistics,
      byte[] data) {
    CRC32C checksum = new CRC32C();
    checksum.update(data);
    long stored = batch.size() + (encoding.equals("dictionary") ? dictionaryBatch.size() : 0);
    long decoded = Math.max(column.sizeBytes(from, to), stored);
    String problem = BlockCheck.problem(data, encoding, to - from, decoded);
    if (problem != null) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(column.path) + " cannot be written: " + problem + ".");
    }
    return new EncodedBlock(
        new BlockEntry(
            to - from,
            data.length,
            decoded,
            checksum.getValue(),
            encoding,
            base,
            statistics),
        data);
  }
}
