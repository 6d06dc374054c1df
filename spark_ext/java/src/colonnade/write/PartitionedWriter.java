package colonnade.write;

import colonnade.encodings.BlockEncoder;
import colonnade.store.ByteSink;
import colonnade.write.job.WriteJob;
import colonnade.write.job.WriteOptions;
import colonnade.write.rowset.RowSetOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Splits the rows of a task by partition, so that every RowSet has rows of only one partition.
 *
 * <p>Spark is asked to bring the rows of a partition together. Then only one writer at a time is in
 * use. If the rows arrive in another order, the RowSets are smaller, because at most a few writers
 * stay open and their memory is limited. The least recently used writer is finished first.
 */
final class PartitionedWriter implements RowWriter {
  private final WriteJob job;
  private final StructType rowSchema;
  private final PartitionValues partitions;
  private final ByteSink sink;
  private final BlockEncoder encoder;

  /** The open writers by partition. The most recently used one is last. */
  private final Map<List<Object>, RowSetWriter> open = new LinkedHashMap<>(16, 0.75f, true);

  private final List<Written> finished = new ArrayList<>();
  private long taken;
  private Object[] partition;
  private RowSetWriter writer;

  PartitionedWriter(WriteJob job, StructType rowSchema, ByteSink sink) {
    this.job = job;
    this.rowSchema = rowSchema;
    this.sink = sink;
    encoder = new BlockEncoder(job.encoding());
    newWriter(null); // refuses rows that do not fit, even where none comes
    partitions = new PartitionValues(job, rowSchema);
  }

  @Override
  public void write(InternalRow row, long origin) throws IOException {
    turnTo(row);
    writer.write(row, origin, taken++);
  }

  private void turnTo(InternalRow row) throws IOException {
    Object[] values = partitions.of(row);
    if (!Arrays.equals(values, partition)) {
      turnTo(PartitionValues.kept(values));
    }
  }

  private void turnTo(List<Object> values) throws IOException {
    partition = values.toArray();
    writer = open.get(values);
    if (writer == null) {
      writer = newWriter(partitions.prefixed(values));
      open.put(values, writer);
    }
    WriteOptions options = job.options();
    while (open.size() > options.openPartitions()
        || open.size() > 1 && heldBytes() > options.heldBytes()) {
      finishFirst();
    }
  }

  private RowSetWriter newWriter(List<String> prefixed) {
    return new RowSetWriter(job, rowSchema, prefixed, sink, encoder);
  }

  private long heldBytes() {
    return open.values().stream().mapToLong(RowSetWriter::heldBytes).sum();
  }

  private void finishFirst() throws IOException {
    Iterator<RowSetWriter> writers = open.values().iterator();
    finished.add(writers.next().finish());
    writers.remove();
  }

  @Override
  public Written finish() throws IOException {
    while (!open.isEmpty()) {
      finishFirst();
    }
    return Written.of(finished);
  }

  @Override
  public void abort() {
    open.values().forEach(RowSetWriter::abort);
    Written.of(finished).outputs().forEach(RowSetOutput::abort);
    finished.clear();
  }

  @Override
  public void close() {
    encoder.close();
  }
}
