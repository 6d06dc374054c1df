package colonnade.read;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/** Makes readers that give aggregates of the columns which those of {@code columns} read. */
public record AggregatingReaderFactory(
    PartitionReaderFactory columns, List<TaskAggregate> aggregates)
    implements PartitionReaderFactory {

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new AggregatingReader(columns.createColumnarReader(partition), aggregates);
  }
}
