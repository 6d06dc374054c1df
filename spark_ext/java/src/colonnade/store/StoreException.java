package colonnade.store;

import java.io.IOException;

/**
 * Makes the errors of reading and writing objects: one sentence behind its stable code.
 *
 * <p>They are plain IOExceptions on purpose. A class of this jar might not be known to the thread
 * of the driver that receives them from an executor, and the sentence would be lost.
 */
public final class StoreException {
  private StoreException() {}

  /** Bytes are missing or differ from what is known about them: nothing was interpreted. */
  public static IOException corruption(String sentence, Throwable cause) {
    return new IOException("[COLONNADE_CORRUPTION] " + sentence, cause);
  }

  /** Written by a newer Colonnade. */
  public static IOException unsupported(String sentence) {
    return new IOException("[COLONNADE_UNSUPPORTED_FORMAT] " + sentence);
  }

  /** The store refused or failed a call. */
  public static IOException failed(String location, String verb, IOException cause) {
    String reason = cause.getMessage() == null ? cause.getClass().getName() : cause.getMessage();
    return new IOException(
        "[COLONNADE_STORE] " + location + " could not be " + verb + ": " + reason + ".", cause);
  }

  /** An object ends before a range that must be there. */
  public static IOException truncated(String location, long size, long offset, int length) {
    return corruption(
        location + " is truncated: " + length + " bytes from offset " + offset
            + " are needed and it holds " + size + " bytes.",
        null);
  }
}
