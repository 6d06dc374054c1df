package colonnade.read.feed;

import colonnade.format.rowset.JsonObject;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** Creates the readers of {@link ChangesTask}s. They return rows. */
public final class ChangesReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final StructType feed;
  private final StructType readSchema;
  private final HashMap<String, String> hadoopConf;

  /**
   * Creates a factory.
   *
   * @param feed all columns of the feed
   * @param readSchema the columns that Spark wants, in order, each as {@code feed} has it
   * @param hadoopConf the settings for tables that are not on a local disk
   */
  public ChangesReaderFactory(
      StructType feed, StructType readSchema, Map<String, String> hadoopConf) {
    this.feed = feed;
    this.readSchema = readSchema;
    this.hadoopConf = new HashMap<>(hadoopConf);
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new ChangesReader(
        JsonObject.parse(((ChangesTask) partition).json()), feed, readSchema, hadoopConf);
  }
}
