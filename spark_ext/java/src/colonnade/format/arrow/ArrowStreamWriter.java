package colonnade.format.arrow;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import com.google.flatbuffers.FlatBufferBuilder;
import java.util.List;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.DictionaryKind;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * Writes arrays as Arrow IPC streams.
 *
 * <pre>
 *   schema message | dictionary message, if any | record batch message | end of stream
 *   message = ffffffff | length of metadata | metadata, padded to 8 bytes | body
 * </pre>
 *
 * Bodies are compressed by zstd if they become clearly smaller. Spec: docs/spec/rowset.md#block
 */
public final class ArrowStreamWriter implements AutoCloseable {
  private final int compressFromBytes;
  private final double compressedShare;
  private final ZstdCompressCtx zstd = new ZstdCompressCtx();
  private final FlatBufferBuilder builder = new FlatBufferBuilder(1024);
  private final ByteOutput body = new ByteOutput();
  private long[] extents = new long[16];

  /**
   * Creates a writer that compresses streams of more than {@code compressFromBytes} by zstd at a
   * level, and keeps the result if it takes less than {@code compressedShare} of the stream.
   */
  public ArrowStreamWriter(int level, int compressFromBytes, double compressedShare) {
    this.compressFromBytes = compressFromBytes;
    this.compressedShare = compressedShare;
    zstd.setLevel(level);
  }

  /** Returns the schema message of a stream. All blocks with the same fields share one message. */
  public byte[] schema(List<org.apache.arrow.vector.types.pojo.Field> fields) {
    builder.clear();
    int[] each = fields.stream().mapToInt(this::field).toArray();
    int vector = Schema.createFieldsVector(builder, each);
    int schema = Schema.createSchema(builder, Endianness.Little, vector, 0, 0);
    return message(MessageHeader.Schema, schema, 0);
  }

  /** Writes a field, without the empty metadata that its own method adds. Returns its offset. */
  private int field(org.apache.arrow.vector.types.pojo.Field field) {
    int[] nested = field.getChildren().stream().mapToInt(this::field).toArray();
    int children = Field.createChildrenVector(builder, nested);
    int name = builder.createString(field.getName());
    int type = field.getType().getType(builder);
    int dictionary = 0;
    if (field.getDictionary() != null) {
      int index = field.getDictionary().getIndexType().getType(builder);
      dictionary =
          DictionaryEncoding.createDictionaryEncoding(
              builder, field.getDictionary().getId(), index, false, DictionaryKind.DenseArray);
    }
    byte kind = field.getType().getTypeID().getFlatbufID();
    return Field.createField(
        builder, name, field.isNullable(), kind, type, dictionary, children, 0);
  }

  /**
   * Writes a stream: a schema message, a dictionary unless {@code dictionary} is null, and one
   * record batch.
   *
   * @param sizeBytes about how many bytes the buffers take
   */
  public byte[] encode(byte[] schema, ArrowBatch dictionary, ArrowBatch batch, long sizeBytes) {
    if (sizeBytes > compressFromBytes) {
      Messages messages = messages(schema, dictionary, batch, true);
      if (messages.length() + body.size < compressedShare * sizeBytes) {
        return join(messages);
      }
    }
    return join(messages(schema, dictionary, batch, false));
  }

  @Override
  public void close() {
    zstd.close();
  }

  /** The messages of a stream without their bodies, and the length of the dictionary's body. */
  private record Messages(byte[] schema, byte[] dictionary, int dictionaryBody, byte[] batch) {
    long length() {
      return schema.length + dictionary.length + batch.length + 8L;
    }
  }

  /** Writes both bodies to {@code body} and returns the messages that describe them. */
  private Messages messages(
      byte[] schema, ArrowBatch dictionary, ArrowBatch batch, boolean compressed) {
    body.size = 0;
    byte[] first = new byte[0];
    if (dictionary != null) {
      first = batchMessage(MessageHeader.DictionaryBatch, dictionary, compressed);
    }
    int firstBody = body.size;
    byte[] second = batchMessage(MessageHeader.RecordBatch, batch, compressed);
    return new Messages(schema, first, firstBody, second);
  }

  private byte[] join(Messages messages) {
    byte[] stream = new byte[Math.toIntExact(messages.length() + body.size)];
    int split = messages.dictionaryBody;
    int at = append(stream, 0, messages.schema, 0, messages.schema.length);
    at = append(stream, at, messages.dictionary, 0, messages.dictionary.length);
    at = append(stream, at, body.bytes, 0, split);
    at = append(stream, at, messages.batch, 0, messages.batch.length);
    at = append(stream, at, body.bytes, split, body.size - split);
    Bits.putInt(stream, at, -1);
    return stream;
  }

  private static int append(byte[] stream, int at, byte[] source, int offset, int length) {
    System.arraycopy(source, offset, stream, at, length);
    return at + length;
  }

  /** Appends the buffers of a batch to the body. Returns the message that precedes them. */
  private byte[] batchMessage(byte kind, ArrowBatch batch, boolean compressed) {
    int start = body.size;
    if (extents.length < 2 * batch.bufferCount()) {
      extents = new long[4 * batch.bufferCount()];
    }
    for (int i = 0; i < batch.bufferCount(); i++) {
      int offset = body.size;
      appendBuffer(batch.bytes(i), batch.start(i), batch.length(i), compressed);
      extents[2 * i] = offset - start;
      extents[2 * i + 1] = body.size - offset;
      body.pad();
    }
    builder.clear();
    int header = recordBatch(batch, compressed);
    if (kind == MessageHeader.DictionaryBatch) {
      header = DictionaryBatch.createDictionaryBatch(builder, 0, header, false);
    }
    return message(kind, header, body.size - start);
  }

  private void appendBuffer(byte[] source, int from, int length, boolean compressed) {
    if (!compressed || length == 0) {
      body.write(source, from, length);
      return;
    }
    // Arrow requires the decoded size before the buffer, or -1 before an uncompressed buffer.
    body.reserve(8 + Zstd.compressBound(length));
    int start = body.size + 8;
    int size =
        zstd.compressByteArray(
            body.bytes, start, body.bytes.length - start, source, from, length);
    boolean shorter = size < length;
    Bits.putLong(body.bytes, body.size, shorter ? length : -1);
    if (!shorter) {
      System.arraycopy(source, from, body.bytes, start, length);
    }
    body.size = start + (shorter ? size : length);
  }

  private int recordBatch(ArrowBatch batch, boolean compressed) {
    RecordBatch.startNodesVector(builder, batch.nodeCount());
    for (int i = batch.nodeCount() - 1; i >= 0; i--) {
      FieldNode.createFieldNode(builder, batch.rows(i), batch.nullCount(i));
    }
    int nodes = builder.endVector();
    RecordBatch.startBuffersVector(builder, batch.bufferCount());
    for (int i = batch.bufferCount() - 1; i >= 0; i--) {
      Buffer.createBuffer(builder, extents[2 * i], extents[2 * i + 1]);
    }
    int buffers = builder.endVector();
    int codec =
        compressed
            ? BodyCompression.createBodyCompression(
                builder, CompressionType.ZSTD, BodyCompressionMethod.BUFFER)
            : 0;
    return RecordBatch.createRecordBatch(builder, batch.rows(0), nodes, buffers, codec, 0);
  }

  private byte[] message(byte kind, int header, long bodyLength) {
    builder.finish(
        Message.createMessage(
            builder, MetadataVersion.V5, kind, header, bodyLength, 0));
    byte[] metadata = builder.sizedByteArray();
    int padded = metadata.length + 7 & ~7;
    byte[] message = new byte[8 + padded];
    Bits.putInt(message, 0, -1);
    Bits.putInt(message, 4, padded);
    System.arraycopy(metadata, 0, message, 8, metadata.length);
    return message;
  }
}
