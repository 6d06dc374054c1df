package colonnade.read;

import colonnade.format.rowset.JsonObject;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Creates the readers of {@link ScanTask}s. They return columns, or rows if Spark asks for rows.
 */
public final class ColonnadeReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final StructType readSchema;
  private final String statics;
  private final HashMap<String, String> hadoopConf;

  /**
   * Creates a factory.
   *
   * @param readSchema the columns that Spark wants, in order; it may include metadata columns and
   *     only some fields of nested columns
   * @param statics where the values of static columns are, in JSON; null if none is wanted
   * @param hadoopConf the settings for tables that are not on a local disk
   */
  public ColonnadeReaderFactory(
      StructType readSchema, String statics, Map<String, String> hadoopConf) {
    this.readSchema = readSchema;
    this.statics = statics;
    this.hadoopConf = new HashMap<>(hadoopConf);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    JsonNode task = task(partition);
    if (!MergingReader.order(task).isMissingNode()) {
      throw new IllegalStateException("A task that merges RowSets returns rows, not columns.");
    }
    return new ScanTaskReader(task, readSchema, hadoopConf);
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    JsonNode task = task(partition);
    JsonNode order = MergingReader.order(task);
    return order.isMissingNode()
        ? RowReader.of(task, readSchema, hadoopConf)
        : new MergingReader(task, order, readSchema, hadoopConf);
  }

  private JsonNode task(InputPartition partition) {
    ObjectNode task = (ObjectNode) JsonObject.parse(((ScanTask) partition).json());
    return statics == null ? task : task.put("statics", statics);
  }
}
