package colonnade.source;

import colonnade.rowset.ColonnadeReaderFactory;
import colonnade.rowset.ScanTask;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/** The tasks of a scan: planned when they are first asked for, then fixed. */
final class ColonnadeBatch implements Batch {
  private final ScanRequest request;
  private final boolean apart;
  private JsonNode plan;

  /** {@code apart}: each task reads one RowSet, because Spark was told that its rows are sorted. */
  ColonnadeBatch(ScanRequest request, boolean apart) {
    this.request = request;
    this.apart = apart;
  }

  synchronized JsonNode plan() {
    if (plan == null) {
      plan = request.plan(apart);
    }
    return plan;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return StreamSupport.stream(plan().get("tasks").spliterator(), false)
        .map(task -> new ScanTask(task.asText()))
        .toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new ColonnadeReaderFactory(request.schema(), storeSettings());
  }

  /** Hadoop's settings, by which executors reach the store; none for local files. */
  private Map<String, String> storeSettings() {
    Map<String, String> settings = new HashMap<>();
    if (request.state().get("url").toString().contains("://")) {
      SparkSession.active().sparkContext().hadoopConfiguration()
          .forEach(entry -> settings.put(entry.getKey(), entry.getValue()));
    }
    return settings;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ColonnadeBatch batch && request.equals(batch.request);
  }

  @Override
  public int hashCode() {
    return request.hashCode();
  }
}
