package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Writes.CheckStream;
import colonnade.planner.messages.Writes.StreamTarget;
import colonnade.spark.table.TableAtEpoch;
import colonnade.spark.table.UserPath;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.DataSourceUtils;
import org.apache.spark.sql.execution.streaming.Sink;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The table that a stream writes to. A batch is a write of a DataFrame like any other, and lands
 * once: it carries the id of the stream and its own number as the options of a batch. So Spark casts
 * its columns, fills and checks them, evolves the table and merges by keys. For a {@code
 * StreamingWrite}, Spark would do nothing of this.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code Sink}, the local property {@code
 * StreamExecution.QUERY_ID_KEY} of the thread of a stream, {@code internalCreateDataFrame}, and the
 * columns of {@code clusterBy} among the options.
 */
public final class StreamSink implements Sink {
  private static final String QUERY_ID = "sql.streaming.queryId";

  private static final String CLUSTER_BY = DataSourceUtils.CLUSTERING_COLUMNS_KEY();

  /** What Spark's writer of streams has among the options that is none of a batch. */
  private static final Set<String> OF_STREAM =
      Set.of("path", "queryname", "checkpointlocation", CLUSTER_BY.toLowerCase(Locale.ROOT));

  private final String path;
  private final Map<String, String> options = new HashMap<>();
  private final List<String> partitionBy;
  private final List<String> clusterBy;
  private final String mode;
  private StreamTarget known;

  private StreamSink(
      String path,
      Map<String, String> given,
      List<String> partitionBy,
      OutputMode mode,
      StreamTarget known) {
    this.path = path;
    this.partitionBy = partitionBy;
    this.mode = mode.toString().toLowerCase(Locale.ROOT);
    this.known = known;
    options.putAll(given);
    options.keySet().removeIf(name -> OF_STREAM.contains(name.toLowerCase(Locale.ROOT)));
    String columns = given.get(CLUSTER_BY);
    clusterBy =
        columns == null
            ? List.of()
            : CollectionConverters.asJava(DataSourceUtils.decodePartitioningColumns(columns));
  }

  /**
   * Returns the sink of a stream that writes to a path. Its first batch creates the table if there
   * is none. Fails for what no batch could be written with.
   */
  public static StreamSink ofPath(
      Map<String, String> options, List<String> partitionBy, OutputMode mode) {
    String path = options.get("path");
    if (path == null || path.isEmpty()) {
      throw ColonnadeException.invalid(
          "writeStream needs a table: name its path as in start(path), or its name as in"
              + " toTable(name).");
    }
    StreamSink sink =
        new StreamSink(UserPath.absolute(path), options, partitionBy, mode, null);
    sink.check();
    return sink;
  }

  /** Returns the sink of a stream that writes to a table which Spark has found by its name. */
  static StreamSink ofTable(TableAtEpoch table, Map<String, String> options, OutputMode mode) {
    StreamTarget known = new StreamTarget(table.view().database(), table.view().table(), false);
    return new StreamSink(table.path(), options, List.of(), mode, known);
  }

  /** Fails if no batch could be written in the mode of the stream. */
  void check() {
    check(null, null);
  }

  @Override
  public void addBatch(long number, Dataset<Row> batch) {
    var rows = (org.apache.spark.sql.classic.Dataset<Row>) batch;
    write(number, rows.sparkSession(), rows.queryExecution().toRdd(), rows.schema());
  }

  /** Writes the rows of a batch, unless the table has it. The rows are computed in both cases. */
  void write(long number, SparkSession session, RDD<InternalRow> rows, StructType columns) {
    String query = session.sparkContext().getLocalProperty(QUERY_ID);
    if (check(query, number)) {
      rows.count(); // operators of the query may keep their state in tasks
      return;
    }
    Map<String, String> all = new HashMap<>(options);
    all.put("txnAppId", query);
    all.put("txnVersion", Long.toString(number));
    if (mode.equals("update")) {
      all.put("onDuplicate", "merge");
    }
    if (mode.equals("complete")) {
      all.put("partitionOverwriteMode", "static");
    }
    DataFrameWriter<Row> writer =
        session
            .internalCreateDataFrame(rows, columns, false)
            .write()
            .format("colonnade")
            .options(all)
            .mode(mode.equals("complete") ? SaveMode.Overwrite : SaveMode.Append);
    if (!partitionBy.isEmpty()) {
      writer.partitionBy(seq(partitionBy));
    }
    if (!clusterBy.isEmpty()) {
      writer.clusterBy(clusterBy.get(0), seq(clusterBy.subList(1, clusterBy.size())));
    }
    try {
      writer.save(path);
    } catch (Exception error) { // Scala does not declare which
      if (known != null || !(error instanceof AnalysisException) || !tableIsThere()) {
        throw error;
      }
      write(number, session, rows, columns); // to the table that another writer has created
    }
    if (known == null) {
      check(); // the batch has created the table, and no other one may take its place
    }
  }

  /** What the progress of the stream shows. */
  @Override
  public String toString() {
    return path;
  }

  private boolean tableIsThere() {
    check();
    return known != null;
  }

  /** Returns whether the table has the batch. Fails for what the stream may not write. */
  private boolean check(String query, Long number) {
    StreamTarget target =
        Planner.call(new CheckStream(path, options, mode, known, query, number));
    if (target.table() != null) {
      known = target;
    }
    return target.landed();
  }
}
