package colonnade.store;

import java.io.IOException;

/**
 * A new object that is being written: invisible until {@code close}, then whole.
 *
 * <p>Any error of {@code write} or {@code close} has already aborted it.
 */
public interface ObjectOutput extends AutoCloseable {
  /** Appends bytes. Nothing is buffered, so hand over whole blocks. */
  void write(byte[] data) throws IOException;

  /** Makes the object visible under its name; does nothing after {@code close} or abort. */
  @Override
  void close() throws IOException;

  /** Discards what was written; does nothing after {@code close}. Never throws. */
  void abort();
}
