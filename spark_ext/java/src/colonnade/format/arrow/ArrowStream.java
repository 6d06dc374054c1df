package colonnade.format.arrow;

import colonnade.format.Malformed;
import colonnade.format.Slice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * The messages of one Arrow IPC stream: a schema, at most one dictionary and one record batch.
 *
 * <p>Arrow's own reader trusts the sizes that a stream states. This reader checks that every buffer
 * lies inside its message, and that the decoded buffers stay within the stated sizes.
 *
 * <p>Spec: docs/spec/rowset.md#block
 */
public final class ArrowStream {
  /** A message with buffers. The buffers begin at position {@code body} of {@code array}. */
  public record Batch(RecordBatch header, byte[] array, int body, boolean compressed) {}

  private final ByteBuffer bytes;
  private final int end;
  private int position;
  private long decodedBytes;
  private Schema schema;
  private Batch dictionary;
  private Batch batch;

  private ArrowStream(Slice data) {
    this.bytes = ByteBuffer.wrap(data.array()).order(ByteOrder.LITTLE_ENDIAN);
    this.position = data.offset();
    this.end = data.offset() + data.length();
  }

  /**
   * Finds the messages of a stream.
   *
   * @param stated the most bytes that all decoded buffers may take together
   * @throws Malformed if the stream is malformed or its buffers exceed that size
   */
  public static ArrowStream parse(Slice data, long stated) throws Malformed {
    ArrowStream stream = new ArrowStream(data);
    try {
      stream.parse();
    } catch (RuntimeException error) {
      throw new Malformed("the Arrow stream is malformed", error);
    }
    if (stream.decodedBytes > stated) {
      throw new Malformed(
          "it would take " + stream.decodedBytes + " bytes decoded where " + stated
              + " are stated");
    }
    return stream;
  }

  public Schema schema() {
    return schema;
  }

  public Batch batch() {
    return batch;
  }

  /** Returns the dictionary of the only dictionary field, or null if there is none. */
  public Batch dictionary() {
    return dictionary;
  }

  private void parse() throws Malformed {
    while (position < end) {
      require(end - position >= 8);
      int marker = bytes.getInt(position);
      int size = bytes.getInt(position + 4);
      if (marker != -1) {
        throw new Malformed("the Arrow stream is malformed");
      }
      position += 8;
      if (size == 0) {
        break;
      }
      require(size > 0 && size <= end - position);
      Message message = Message.getRootAsMessage(bytes.slice(position, size));
      position += size;
      long bodyLength = message.bodyLength();
      require(bodyLength >= 0 && bodyLength <= end - position);
      add(message, (int) bodyLength);
      position += (int) bodyLength;
    }
    require(batch != null);
  }

  private static void require(boolean whole) throws Malformed {
    if (!whole) {
      throw new Malformed("the Arrow stream ends inside a message");
    }
  }

  private void add(Message message, int bodyLength) throws Malformed {
    if (message.version() < MetadataVersion.V4 || message.version() > MetadataVersion.V5) {
      throw new Malformed("the Arrow stream has an unknown version");
    }
    if (batch != null) {
      throw new Malformed("the Arrow stream holds more than one batch");
    }
    byte kind = message.headerType();
    if (kind == MessageHeader.Schema && schema == null) {
      schema = (Schema) message.header(new Schema());
      if (schema.endianness() != Endianness.Little) {
        throw new Malformed("the Arrow stream is big-endian");
      }
    } else if (kind == MessageHeader.DictionaryBatch && schema != null && dictionary == null) {
      DictionaryBatch header = (DictionaryBatch) message.header(new DictionaryBatch());
      if (header.isDelta()) {
        throw new Malformed("the Arrow stream changes its dictionary");
      }
      dictionary = batch(header.data(), bodyLength);
    } else if (kind == MessageHeader.RecordBatch && schema != null) {
      batch = batch((RecordBatch) message.header(new RecordBatch()), bodyLength);
    } else {
      throw new Malformed("the Arrow stream has a message in the wrong place");
    }
  }

  private Batch batch(RecordBatch header, int bodyLength) throws Malformed {
    BodyCompression compression = header.compression();
    if (compression != null
        && (compression.codec() != CompressionType.ZSTD
            || compression.method() != BodyCompressionMethod.BUFFER)) {
      throw new Malformed("the Arrow stream is compressed by something else than zstd");
    }
    boolean compressed = compression != null;
    Buffer buffer = new Buffer();
    for (int i = 0; i < header.buffersLength(); i++) {
      header.buffers(buffer, i);
      long offset = buffer.offset();
      long length = buffer.length();
      if (offset < 0 || length < 0 || offset > bodyLength || length > bodyLength - offset) {
        throw new Malformed("a buffer of the Arrow stream lies outside it");
      }
      decodedBytes += decodedSize((int) offset, (int) length, compressed);
    }
    return new Batch(header, bytes.array(), position, compressed);
  }

  /**
   * Returns the decoded size of a buffer. A compressed buffer begins with this size, or with -1 if
   * it is stored uncompressed.
   */
  private long decodedSize(int offset, int length, boolean compressed) throws Malformed {
    if (!compressed || length == 0) {
      return length;
    }
    long size = length < 8 ? -2 : bytes.getLong(position + offset);
    if (size < -1 || size > Integer.MAX_VALUE) {
      throw new Malformed("a buffer of the Arrow stream has an impossible size");
    }
    return size == -1 ? length - 8 : size;
  }
}
