package colonnade.write.staged;

import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowStreamWriter;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.block.BlockCheck;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * Encodes rows of a column as blocks, each by the first {@link Encoding} that applies. Holds what
 * all blocks of a task share: memory, dictionaries, and the state of zstd.
 *
 * <p>Holds about one decoded block. Spec: docs/spec/rowset.md#encodings
 */
public final class BlockEncoder implements AutoCloseable {
  private static final Encoding[] ENCODINGS = Encoding.values();

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
    StagedRows rows = new StagedRows(this, column, from, to, size);
    for (Encoding each : ENCODINGS) {
      EncodedBlock block = each.encode(rows);
      if (block != null) {
        return block;
      }
    }
    throw new IllegalStateException("no encoding takes " + column.field.type());
  }

  /** Returns an empty dictionary, which is valid until the next block. */
  LongDictionary longDictionary() {
    return longDictionary;
  }

  /** Returns an empty dictionary, which is valid until the next block. */
  BytesDictionary bytesDictionary() {
    return bytesDictionary;
  }

  /** Returns an empty batch, which is valid until the next block. */
  ArrowBatch batch() {
    batch.clear();
    return batch;
  }

  /** Returns an empty batch for a dictionary, which is valid until the next block. */
  ArrowBatch dictionaryBatch() {
    dictionaryBatch.clear();
    return dictionaryBatch;
  }

  /** Writes the index of a segment as a stream of one batch. */
  public byte[] index(List<Field> fields, ArrowBatch rows) {
    return stream.encode(stream.schema(fields), null, rows, rows.size());
  }

  @Override
  public void close() {
    stream.close();
  }

  /**
   * Writes {@link #batch} as the stream of a block.
   *
   * @param width the bytes of a value in the stream; 0 for those of the column itself
   * @param field the field as the stream states it
   * @param base what is added to each value, or null
   * @param dictionary the batch of a dictionary, or null
   */
  EncodedBlock write(
      Encoding encoding,
      StagedRows rows,
      int width,
      Field field,
      Long base,
      ArrowBatch dictionary) {
    long stored = batch.size() + (dictionary == null ? 0 : dictionary.size());
    String key = rows.column().field.id() + encoding.text() + width;
    byte[] schema = schemas.computeIfAbsent(key, any -> stream.schema(List.of(field)));
    byte[] data = stream.encode(schema, dictionary, batch, width == 0 ? rows.size() : stored);
    // The decoded size is that of the stream, or of the rows as an Arrow array if this is larger.
    long decoded = Math.max(rows.size(), stored);
    String problem = BlockCheck.problem(data, encoding.text(), rows.count(), decoded);
    if (problem != null) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(rows.column().path) + " cannot be written: " + problem
              + ".");
    }
    CRC32C checksum = new CRC32C();
    checksum.update(data);
    return new EncodedBlock(
        new BlockEntry(
            rows.count(),
            data.length,
            decoded,
            checksum.getValue(),
            encoding.text(),
            base,
            rows.statistics()),
        data);
  }
}
