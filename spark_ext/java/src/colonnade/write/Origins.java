package colonnade.write;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.zip.Deflater;

/**
 * Encodes where the rows of one RowSet after another come from. The origin of a row is the handler
 * of the row that it replaces, RowSet id {@code << 32 |} row number; a new row has none.
 *
 * <p>Origins are compressed as they come. Before the first row with an origin, nothing is held.
 */
final class Origins implements AutoCloseable {
  /** Stands for the origin of a row that is new to the table. */
  static final long NEW = -1;

  /** How many numbers wait before they are compressed. */
  private static final int WAITING = 4096;

  private final ByteArrayOutputStream compressed = new ByteArrayOutputStream();
  private ByteBuffer waiting;
  private byte[] room;
  private Deflater deflater;
  private long rows;
  private long last = -1;

  /**
   * Adds the next row of the RowSet.
   *
   * @throws IllegalStateException for a row that replaces the same row as the one before it
   */
  void add(long origin) {
    if (origin != NEW && waiting == null) {
      begin();
    }
    if (waiting != null) {
      put(difference(origin));
    }
    rows++;
  }

  private void begin() {
    waiting = ByteBuffer.allocate(WAITING * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (long row = 0; row < rows; row++) {
      put(0);
    }
  }

  private long difference(long origin) {
    if (origin == NEW) {
      return 0;
    }
    long difference = origin - last;
    if (difference == 0) {
      throw new IllegalStateException("Two rows replace the same row " + origin + ".");
    }
    last = origin;
    return difference;
  }

  private void put(long difference) {
    if (!waiting.hasRemaining()) {
      compress();
    }
    waiting.putLong(difference);
  }

  private void compress() {
    if (deflater == null) {
      deflater = new Deflater(Deflater.BEST_SPEED);
      room = new byte[WAITING];
    }
    deflater.setInput(waiting.array(), 0, waiting.position());
    while (!deflater.needsInput()) {
      take();
    }
    waiting.clear();
  }

  private void take() {
    compressed.write(room, 0, deflater.deflate(room));
  }

  /**
   * Ends a RowSet of {@code count} rows, and begins the next one. Returns the origins of its rows in
   * base64; null if all its rows are new.
   */
  String end(long count) {
    if (rows != count) {
      throw new IllegalStateException("Of " + count + " rows, " + rows + " state their origins.");
    }
    String encoded = waiting == null ? null : encode();
    close();
    waiting = null;
    rows = 0;
    last = -1;
    return encoded;
  }

  private String encode() {
    compress();
    deflater.finish();
    while (!deflater.finished()) {
      take();
    }
    return Base64.getEncoder().encodeToString(compressed.toByteArray());
  }

  /** Releases native memory. */
  @Override
  public void close() {
    if (deflater != null) {
      deflater.end();
      deflater = null;
    }
    compressed.reset();
  }
}
