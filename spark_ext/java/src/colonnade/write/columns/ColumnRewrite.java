package colonnade.write.columns;

import colonnade.format.rowset.Cuts;
import colonnade.format.rowset.JsonObject;
import colonnade.format.rowset.JsonRecords;
import colonnade.store.ByteSink;
import colonnade.store.TaskFailure;
import colonnade.store.hadoop.Stores;
import colonnade.write.job.WriteJob;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/**
 * Writes columns that replace those of RowSets, in the tasks of a query.
 *
 * <p>The first column of the query is the handler of a row, the second one tells whether its values
 * change. The values follow, in the order of the job's columns. The query has each live row of the
 * RowSets once. A task has all rows of a RowSet, ordered by their handlers.
 */
public final class ColumnRewrite implements FlatMapFunction<Iterator<InternalRow>, String> {
  private static final long serialVersionUID = 1L;

  private final String jobJson;
  private final String rowsetsJson;
  private final StructType rowSchema;
  private final HashMap<String, String> hadoopConf;
  private final boolean rowsCanMove;

  /** The part of a RowSet's entry that a task needs. */
  record Shape(long rows, long liveRows, Cuts cuts) {}

  /**
   * Prepares the tasks of a query. Each returns a report as {@code
   * tableformat/statements/columns/written_columns.py} reads it. No reader sees the columns before a commit.
   *
   * @param jobJson the job, whose columns are written
   * @param rowsetsJson a list of {"id", "rows", "live", "cuts"}
   * @param rowSchema the schema of the query
   * @param rowsCanMove whether the caller moves the rows of RowSets whose new values are too wide
   */
  public ColumnRewrite(
      String jobJson,
      String rowsetsJson,
      StructType rowSchema,
      Map<String, String> hadoopConf,
      boolean rowsCanMove) {
    this.jobJson = jobJson;
    this.rowsetsJson = rowsetsJson;
    this.rowSchema = rowSchema;
    this.hadoopConf = new HashMap<>(hadoopConf);
    this.rowsCanMove = rowsCanMove;
  }

  /** Runs the tasks, one for each partition of the rows of a query. */
  public RewrittenColumns of(JavaRDD<InternalRow> rows) {
    return RewrittenColumns.of(rows.mapPartitions(this).collect());
  }

  /**
   * Does so where {@code changes} has other rows for some of these handlers, in equal partitions.
   * Each partition is ordered by the handlers, in both.
   */
  public RewrittenColumns of(JavaRDD<InternalRow> rows, JavaRDD<InternalRow> changes) {
    return RewrittenColumns.of(rows.zipPartitions(changes, MergedRows.written(this)).collect());
  }

  @Override
  public Iterator<String> call(Iterator<InternalRow> rows) throws IOException {
    if (!rows.hasNext()) {
      return List.<String>of().iterator();
    }
    WriteJob job = WriteJob.parse(JsonObject.parse(jobJson));
    ByteSink sink = Stores.sink(job.url(), hadoopConf);
    try (ColumnWriter writer = new ColumnWriter(job, rowSchema, shapes(), sink, rowsCanMove)) {
      List<ColumnWriter.Written> written = write(writer, rows);
      byte[] report = JsonRecords.write(written);
      List<String> texts = new ArrayList<>();
      texts.add(new String(report, StandardCharsets.UTF_8));
      writer.wide().forEach(rowset -> texts.add(Long.toString(rowset)));
      return texts.iterator();
    } catch (IOException error) {
      throw TaskFailure.of(error);
    }
  }

  private static List<ColumnWriter.Written> write(ColumnWriter writer, Iterator<InternalRow> rows)
      throws IOException {
    try {
      while (rows.hasNext()) {
        writer.write(rows.next());
      }
      return writer.finish();
    } catch (IOException | RuntimeException error) {
      writer.abort();
      throw error;
    }
  }

  private Map<Long, Shape> shapes() {
    Map<Long, Shape> shapes = new HashMap<>();
    for (JsonNode each : JsonObject.parse(rowsetsJson)) {
      shapes.put(
          each.get("id").longValue(),
          new Shape(
              each.get("rows").longValue(),
              each.get("live").longValue(),
              Cuts.parse(each.get("cuts"))));
    }
    return shapes;
  }
}
