package colonnade.encodings;

import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowStream;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.vector.BatchDecoder;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import com.github.luben.zstd.ZstdDecompressCtx;
import org.apache.arrow.flatbuf.Field;

/**
 * Decodes blocks into vectors. Each reader needs its own decoder, because the decoder holds the
 * state of zstd.
 *
 * <p>Spec: docs/spec/rowset.md#block
 */
public final class BlockDecoder implements AutoCloseable {
  private static final long MANY_ROWS_LIMIT = 64L << 20;
  private static final long ONE_ROW_LIMIT = (1L << 31) + (1L << 20);

  private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();
  private final Bytes scratch = new Bytes();

  /** Fills a vector with the rows of a block. Compares the bytes with their checksum first. */
  public void decode(TableField column, BlockEntry entry, Slice bytes, ColonnadeVector target)
      throws Malformed {
    checkStated(entry);
    target.select(0, null, 0);
    Encoding encoding = Encodings.of(entry);
    if (!encoding.isStored()) {
      encoding.decode(new Block(column, entry, target, null, null, null, null));
      return;
    }
    try {
      decodeStream(encoding, column, entry, bytes, target);
    } catch (RuntimeException error) {
      throw new Malformed("the Arrow stream cannot be read", error);
    }
  }

  /**
   * Compares the bytes of a block with the checksum in its index, if the block has bytes.
   */
  public static void verify(BlockEntry entry, Slice bytes) throws Malformed {
    if (Encodings.of(entry).isStored() && bytes.crc32c() != entry.crc32c()) {
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
    if (rows != Encodings.of(entry).streamRows(entry)) {
      throw new Malformed(
          "its stream holds " + rows + " rows where its index states " + entry.rows() + " rows, "
              + entry.encoding());
    }
    return stream;
  }

  private void decodeStream(
      Encoding encoding, TableField column, BlockEntry entry, Slice bytes, ColonnadeVector target)
      throws Malformed {
    verify(entry, bytes);
    ArrowStream stream = parse(entry, bytes);
    BatchDecoder batch = new BatchDecoder(stream.batch(), zstd);
    BatchDecoder dictionary =
        stream.dictionary() == null ? null : new BatchDecoder(stream.dictionary(), zstd);
    Field field = stream.schema().fieldsLength() == 1 ? stream.schema().fields(0) : null;
    if (field == null
        || !encoding.decode(new Block(column, entry, target, field, batch, dictionary, scratch))) {
      throw new Malformed(
          "its stream holds " + batch.rows() + " rows of something else than its index states: "
              + entry.rows() + " rows, " + entry.encoding() + ", of " + column.type());
    }
  }

  @Override
  public void close() {
    zstd.close();
  }
}
