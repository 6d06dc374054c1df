package colonnade.write;

import colonnade.encodings.BlockEncoder;
import colonnade.format.rowset.RowSetEntry;
import colonnade.store.ByteSink;
import colonnade.write.job.WriteJob;
import colonnade.write.rowset.Origins;
import colonnade.write.rowset.RowSetOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Takes the rows of one task and writes them as RowSets. */
public interface RowWriter extends AutoCloseable {

  /**
   * The result of a writer.
   *
   * @param entries the entries of all RowSets; empty if there were no rows
   * @param origins for each RowSet, where its rows come from, as {@link Origins#end} returns it
   * @param outputs the outputs that wrote the RowSets; the caller must abort them if it will not
   *     commit
   * @param statics the static values that the rows brought; null if the task takes none
   */
  record Written(
      List<RowSetEntry> entries,
      List<String> origins,
      List<RowSetOutput> outputs,
      Statics statics) {
    /** The result of a writer that has written nothing. */
    static final Written NOTHING = new Written(List.of(), List.of(), List.of(), null);

    /** Returns the results of writers that share the rows of a task as one. */
    static Written of(List<Written> parts) {
      List<RowSetEntry> entries = new ArrayList<>();
      List<String> origins = new ArrayList<>();
      List<RowSetOutput> outputs = new ArrayList<>();
      for (Written part : parts) {
        entries.addAll(part.entries());
        origins.addAll(part.origins());
        outputs.addAll(part.outputs());
      }
      return new Written(entries, origins, outputs, null);
    }

    /** Returns this result with static values, which further outputs wrote. */
    Written with(List<RowSetOutput> further, Statics brought) {
      List<RowSetOutput> all = new ArrayList<>(outputs);
      all.addAll(further);
      return new Written(entries, origins, all, brought);
    }
  }

  /**
   * Static values.
   *
   * @param columns the ids of the columns of the partition key and of the static columns
   * @param entries the entries of the RowSets that have them
   * @param updated the number of rows that got static values and were not written themselves
   */
  record Statics(List<Integer> columns, List<RowSetEntry> entries, long updated) {}

  /**
   * Creates the writer of a job for rows of a schema, whose columns are matched by name.
   *
   * @throws org.apache.spark.sql.AnalysisException naming the columns that do not fit the table
   */
  static RowWriter of(WriteJob job, StructType rowSchema, ByteSink sink) {
    return sound(job, rowSchema, () -> plain(job, rowSchema, sink));
  }

  /** Returns a writer of rows that other writers get with valid text, if the job replaces text. */
  static RowWriter sound(WriteJob job, StructType rowSchema, Supplier<RowWriter> writers) {
    return job.replacesText() ? new ReplacingWriter(job, rowSchema, writers) : writers.get();
  }

  /** Returns a writer that refuses rows that do not meet all conditions. */
  static RowWriter checked(RowWriter writer, List<RowCheck> checks) {
    RowWriter first = writer;
    for (RowCheck check : checks) {
      first = check.before(first);
    }
    return first;
  }

  /** Creates the writer of a job for rows of a schema whose text is valid, or is to be refused. */
  static RowWriter plain(WriteJob job, StructType rowSchema, ByteSink sink) {
    return job.partitionedBy().isEmpty()
        ? new RowSetWriter(job, rowSchema, null, sink, new BlockEncoder(job.encoding()))
        : new PartitionedWriter(job, rowSchema, sink);
  }

  /**
   * Appends a row. Does not keep a reference to the row.
   *
   * @param origin the handler of the row that it replaces; {@link Origins#NEW} for a new row
   * @throws org.apache.spark.sql.AnalysisException if the table does not allow a value
   */
  void write(InternalRow row, long origin) throws IOException;

  /** Writes all pending rows and returns the result. */
  Written finish() throws IOException;

  /** Finishes the writers that share the rows of a task, and returns their results as one. */
  static Written finish(List<RowWriter> writers) throws IOException {
    List<Written> parts = new ArrayList<>();
    for (RowWriter writer : writers) {
      parts.add(writer.finish());
    }
    return Written.of(parts);
  }

  /** Removes everything that this writer wrote. Requires: no commit of it has been attempted. */
  void abort();

  /** Releases native memory. Removes no objects. */
  @Override
  void close();
}
