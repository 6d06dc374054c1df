package colonnade.spark.streams;

import colonnade.planner.HadoopSettings;
import colonnade.planner.Planner;
import colonnade.planner.messages.Streams.Backlog;
import colonnade.planner.messages.Streams.FoundOffset;
import colonnade.planner.messages.Streams.LatestOffset;
import colonnade.planner.messages.Streams.Limits;
import colonnade.planner.messages.Streams.LoadedStream;
import colonnade.planner.messages.Streams.PlanStream;
import colonnade.planner.messages.Streams.StreamBacklog;
import colonnade.read.feed.ChangesReaderFactory;
import colonnade.read.feed.ChangesTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.CompositeReadLimit;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxBytes;
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.types.StructType;

/** The batches of one run of a stream. The planner says where each of them ends, and what it reads. */
final class TableStream
    implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
  private final LoadedStream loaded;
  private final StructType columns;
  private final StructType readSchema;
  private final String checkpoint;

  /** Whether this run ends with the newest epoch of the time when it begins. */
  private boolean untilNow;

  /** The last epoch of such a run, once the planner has looked for it. */
  private Long last;

  /**
   * Creates a run.
   *
   * @param columns all columns of the stream
   * @param readSchema those that Spark wants, in order
   * @param checkpoint the place that Spark gives this source of the query
   */
  TableStream(
      LoadedStream loaded, StructType columns, StructType readSchema, String checkpoint) {
    this.loaded = loaded;
    this.columns = columns;
    this.readSchema = readSchema;
    this.checkpoint = checkpoint;
  }

  @Override
  public Offset initialOffset() {
    return StreamOffset.BEGINNING;
  }

  @Override
  public Offset deserializeOffset(String json) {
    return new StreamOffset(json);
  }

  /**
   * Says that this run ends with the newest epoch. The first {@link #latestOffset} looks for it,
   * because a batch that was planned before a restart may come first.
   */
  @Override
  public void prepareForTriggerAvailableNow() {
    untilNow = true;
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    Limits limits = loaded.stream().limits();
    List<ReadLimit> all = new ArrayList<>();
    if (limits.files() != null) {
      all.add(ReadLimit.maxFiles((int) Math.min(limits.files(), Integer.MAX_VALUE)));
    }
    if (limits.bytes() != null) {
      all.add(ReadLimit.maxBytes(limits.bytes()));
    }
    if (limits.rows() != null) {
      all.add(ReadLimit.maxRows(limits.rows()));
    }
    return ReadLimit.compositeLimit(all.toArray(ReadLimit[]::new));
  }

  private static Limits limits(ReadLimit limit) {
    Long files = null;
    Long bytes = null;
    Long rows = null;
    ReadLimit[] all =
        limit instanceof CompositeReadLimit some ? some.getReadLimits() : new ReadLimit[] {limit};
    for (ReadLimit each : all) {
      if (each instanceof ReadMaxFiles most) {
        files = (long) most.maxFiles();
      } else if (each instanceof ReadMaxBytes most) {
        bytes = most.maxBytes();
      } else if (each instanceof ReadMaxRows most) {
        rows = most.maxRows();
      }
    }
    return new Limits(files, bytes, rows);
  }

  /**
   * Returns where a batch ends. It is never null: an empty first batch makes the checkpoint hold
   * where the stream began.
   */
  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    FoundOffset found =
        Planner.call(
            new LatestOffset(
                loaded.view(), loaded.stream(), StreamOffset.start(start), limits(limit), last));
    if (untilNow && last == null) {
      last = found.newest();
    }
    return new StreamOffset(found.offset());
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks for offsets with limits.");
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    return Planner.call(
            new PlanStream(
                loaded.view(),
                loaded.stream(),
                StreamOffset.start(start),
                end.json(),
                SparkSession.active().sparkContext().defaultParallelism(),
                checkpoint))
        .tasks()
        .stream()
        .map(ChangesTask::new)
        .toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new ChangesReaderFactory(
        columns, readSchema, HadoopSettings.ofTasks(loaded.view().url()));
  }

  /** How far the stream is behind after a batch, for the progress of its query. */
  @Override
  public Map<String, String> metrics(Optional<Offset> consumed) {
    if (consumed.isEmpty()) {
      return Map.of();
    }
    Backlog found =
        Planner.call(new StreamBacklog(loaded.view(), consumed.get().json())).backlog();
    return Map.of(
        "epochsBehind", Long.toString(found.epochs()),
        "bytesBehind", Long.toString(found.bytes()),
        "secondsBehind", Long.toString(found.seconds()));
  }

  /** Does nothing: a stream takes its lease when it plans a batch. */
  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {}
}
