package colonnade.spark.streams;

import colonnade.planner.messages.Streams.LoadedStream;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/**
 * One use of a table as a stream.
 *
 * @param columns all columns of the stream
 */
record StreamScan(LoadedStream loaded, StructType columns) implements Scan {
  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    String what = loaded.stream().rules().changes() ? "stream of the changes of " : "stream of ";
    return what + loaded.stream().name() + ", columns " + columns.simpleString();
  }

  /** Spark takes rows, and not columns, because a task may read changes row by row. */
  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.UNSUPPORTED;
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpoint) {
    return new TableStream(loaded, columns, columns, checkpoint);
  }
}
