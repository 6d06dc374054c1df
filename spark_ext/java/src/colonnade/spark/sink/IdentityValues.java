package colonnade.spark.sink;

import colonnade.spark.quirks.writes.IdentityEndpoint;
import colonnade.write.IdentitySource;

/**
 * What the tasks of a write take values of identity columns from, until the write is committed or
 * given up.
 *
 * @param endpoint answers the tasks; null if the table has no such column
 */
record IdentityValues(IdentityEndpoint endpoint) implements AutoCloseable {
  static final IdentityValues NONE = new IdentityValues(null);

  /** Returns what tasks get; null if the table has no identity column. */
  IdentitySource source() {
    return endpoint == null ? null : endpoint.source();
  }

  /** Gives no more values. Safe to call again. */
  @Override
  public void close() {
    if (endpoint != null) {
      endpoint.close();
    }
  }
}
