package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.spark.quirks.statement.Caller;

/** Streams of Spark that would write to a table, which only {@code foreachBatch} can do. */
public final class StreamedWrites {
  private StreamedWrites() {}

  /** Refuses {@code df.writeStream} if it calls, before it creates a table or looks for one. */
  public static void refuse() {
    if (Caller.isStreamWriter()) {
      throw ColonnadeException.invalid(
          "writeStream.toTable and start cannot write to a Colonnade table; write each batch in"
              + " foreachBatch, with the options txnAppId and txnVersion.");
    }
  }
}
