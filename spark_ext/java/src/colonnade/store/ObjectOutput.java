package colonnade.store;

import java.io.IOException;

/**
 * A new object that is being written. It is invisible until {@code close}, and then complete.
 *
 * <p>Any error of {@code write} or {@code close} has already aborted the object.
 */
public interface ObjectOutput extends AutoCloseable {
  /** Appends bytes. Each call writes through without a buffer, so pass whole blocks. */
  void write(byte[] data) throws IOException;

  /** Makes the object visible under its name. Does nothing after {@code close} or abort. */
  @Override
  void close() throws IOException;

  /** Discards the written bytes. Does nothing after {@code close}. Never throws. */
  void abort();
}
