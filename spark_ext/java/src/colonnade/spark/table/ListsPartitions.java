package colonnade.spark.table;

import colonnade.planner.ColonnadeException;
import colonnade.planner.Planner;
import colonnade.planner.messages.Queries.ListPartitions;
import colonnade.planner.messages.Views.NamedView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.SupportsPartitionManagement;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * SHOW PARTITIONS. There is nothing else to do with a partition by itself: it is there as long as
 * it has rows.
 */
interface ListsPartitions extends SupportsPartitionManagement {

  /** The partitioning of the table. */
  PartitionLayout layout();

  /** What names the view of the table in every request to the planner. */
  NamedView view();

  /** The names of the partition values: {@code region}, {@code at_day}, {@code id_bucket}. */
  @Override
  default StructType partitionSchema() {
    return new StructType(
        layout().fields().stream()
            .map(
                field ->
                    new StructField(
                        field.name(), field.type(tableSchema()), true, Metadata.empty()))
            .toArray(StructField[]::new));
  }

  @SuppressWarnings("deprecation") // as it is implemented here
  private StructType tableSchema() {
    return schema();
  }

  /**
   * The partitions of the current layout whose values of these names are those of {@code values}.
   */
  @Override
  default InternalRow[] listPartitionIdentifiers(String[] names, InternalRow values) {
    PartitionKeys keys = PartitionKeys.all(layout(), tableSchema());
    List<Integer> places = Arrays.stream(names).map(partitionSchema()::fieldIndex).toList();
    List<InternalRow> found = new ArrayList<>();
    for (List<String> partition : Planner.call(new ListPartitions(view())).partitions()) {
      InternalRow row = keys.key(partition);
      boolean wanted = true;
      for (int at = 0; at < places.size(); at++) {
        StructField field = partitionSchema().fields()[places.get(at)];
        Object value = row.get(places.get(at), field.dataType());
        wanted &= Objects.deepEquals(value, values.get(at, field.dataType()));
      }
      if (wanted) {
        found.add(row);
      }
    }
    return found.toArray(InternalRow[]::new);
  }

  @Override
  default void createPartition(InternalRow partition, Map<String, String> properties) {
    throw refusal();
  }

  @Override
  default boolean dropPartition(InternalRow partition) {
    throw refusal();
  }

  @Override
  default void replacePartitionMetadata(InternalRow partition, Map<String, String> properties) {
    throw refusal();
  }

  @Override
  default Map<String, String> loadPartitionMetadata(InternalRow partition) {
    return Map.of();
  }

  @Override
  default boolean truncatePartition(InternalRow partition) {
    throw refusal();
  }

  private RuntimeException refusal() {
    return ColonnadeException.invalid(
        "A partition of table " + name() + " is added and removed with its rows: use INSERT and"
            + " DELETE.");
  }
}
