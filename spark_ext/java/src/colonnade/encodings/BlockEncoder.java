package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.ArrowStreamWriter;
import colonnade.format.rowset.BlockEntry;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.refusals.Refusal;
import colonnade.write.staged.BytesDictionary;
import colonnade.write.staged.EncodingChoices;
import colonnade.write.staged.LongDictionary;
import colonnade.write.staged.Staged;
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
  private final EncodingChoices choices;
  private final ArrowStreamWriter stream;
  private final ArrowBatch batch = new ArrowBatch();
  private final LongDictionary longDictionary;
  private final BytesDictionary bytesDictionary;
  private final Map<Field, byte[]> schemas = new HashMap<>();

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
    for (Encoding each : Encodings.ALL) {
      batch.clear();
      Encoded found = each.encode(rows, batch);
      if (found != null) {
        return found.field() == null ? withoutBytes(each, rows) : write(each, rows, found);
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

  /** Writes the index of a segment as a stream of one batch. */
  public byte[] index(List<Field> fields, ArrowBatch rows) {
    return stream.encode(stream.schema(fields), null, rows, rows.size());
  }

  @Override
  public void close() {
    stream.close();
  }

  /** Returns a block that the index alone describes. */
  private static EncodedBlock withoutBytes(Encoding encoding, StagedRows rows) {
    return new EncodedBlock(
        new BlockEntry(
            rows.count(), 0, rows.size, 0, encoding.name, null, rows.statistics()),
        null);
  }

  /** Writes {@link #batch} as the stream of a block. */
  private EncodedBlock write(Encoding encoding, StagedRows rows, Encoded encoded) {
    ArrowBatch dictionary = encoded.dictionary();
    byte[] schema =
        schemas.computeIfAbsent(encoded.field(), field -> stream.schema(List.of(field)));
    byte[] data = stream.encode(schema, dictionary, batch, encoded.size());
    CRC32C checksum = new CRC32C();
    checksum.update(data);
    // The decoded size is that of the stream, or of the rows as an Arrow array if this is larger.
    long stored = batch.size() + (dictionary == null ? 0 : dictionary.size());
    BlockEntry entry =
        new BlockEntry(
            rows.count(),
            data.length,
            Math.max(rows.size, stored),
            checksum.getValue(),
            encoding.name,
            encoded.base(),
            rows.statistics());
    try {
      // A writer so never stores a block whose structure readers would refuse.
      BlockDecoder.parse(entry, Slice.of(data));
    } catch (Malformed error) {
      throw Refusal.invalid(
          "Column " + ColumnNames.quote(rows.column.path) + " cannot be written: "
              + error.getMessage() + ".");
    }
    return new EncodedBlock(entry, data);
  }
}
