package colonnade.write;

import colonnade.format.RowNumbers;
import colonnade.format.RowSetEntry;
import colonnade.store.ByteSink;
import colonnade.write.staged.BlockEncoder;
import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Takes the rows of one task and makes RowSets of them. */
public interface RowWriter extends AutoCloseable {

  /**
   * What a writer has made of its rows.
   *
   * @param entries of all RowSets, none where there were no rows
   * @param inserted which of their rows were marked, counted from 0 through the RowSets as listed
   * @param outputs what wrote them, to be aborted where there will be no commit
   */
  record Written(List<RowSetEntry> entries, RowNumbers inserted, List<RowSetOutput> outputs) {}

  /**
   * The writer of a job for rows of a schema, whose columns are found by name.
   *
   * @throws org.apache.spark.sql.AnalysisException naming the columns that do not fit the table
   */
  static RowWriter of(WriteJob job, StructType rowSchema) {
    return of(job, rowSchema, null);
  }

  /** The same for rows that must meet a condition as they are stored; null where there is none. */
  static RowWriter of(WriteJob job, StructType rowSchema, RowCheck check) {
    Supplier<RowWriter> writers =
        () -> check == null ? plain(job, rowSchema) : check.before(plain(job, rowSchema));
    return job.replacesText() ? new ReplacingWriter(job, rowSchema, writers) : writers.get();
  }

  private static RowWriter plain(WriteJob job, StructType rowSchema) {
    return job.partitionedBy().isEmpty()
        ? new RowSetWriter(job, rowSchema, null, ByteSink.of(job.url()), new BlockEncoder())
        : new PartitionedWriter(job, rowSchema);
  }

  /**
   * Append a row; it is not kept.
   *
   * @throws org.apache.spark.sql.AnalysisException for values that the table does not allow
   */
  void write(InternalRow row) throws IOException;

  /** The row appended last is new to the table, not one that was there with other values. */
  void markInserted();

  /** Write what is pending. */
  Written finish() throws IOException;

  /** Remove everything that this writer wrote. Requires: no commit of it was tried. */
  void abort();

  /** Release native memory; removes nothing. */
  @Override
  void close();
}
