package colonnade.read.aggregates;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/**
 * Creates readers of aggregates. They aggregate the columns that the readers of {@code columns}
 * return.
 */
public record AggregatingReaderFactory(
    PartitionReaderFactory columns, List<TaskAggregate> aggregates)
    implements PartitionReaderFactory {

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    return new AggregatingReader(columns.createColumnarReader(partition), aggregates);
  }
}
