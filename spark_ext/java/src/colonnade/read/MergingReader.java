package colonnade.read;

import colonnade.read.plan.ReadPlan;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructType;

/**
 * Merges the rows of several sorted RowSets. Rows with equal keys keep the order of the RowSets. A
 * row is valid until the next one.
 */
final class MergingReader implements PartitionReader<InternalRow> {
  private final List<Run> runs = new ArrayList<>();
  private final PriorityQueue<Run> next;
  private Run current;
  private boolean begun;

  /** The rows of one RowSet; {@code number} is its place among them. */
  private record Run(int number, RowReader rows) {}

  /**
   * Creates a reader of a task.
   *
   * @param order the fields of the order, whose columns the schema has
   */
  MergingReader(
      JsonNode task, JsonNode order, StructType readSchema, Map<String, String> hadoopConf) {
    JsonNode rowsets = task.get("plan").get("view").path("rowsets");
    for (JsonNode rowset : rowsets) {
      ScanTaskReader reader =
          new ScanTaskReader(alone(task, rowset), readSchema, hadoopConf, rowsets.size());
      runs.add(new Run(runs.size(), new RowReader(reader)));
    }
    Comparator<InternalRow> keys = RowOrder.of(order, ReadPlan.schema(task.get("plan")), readSchema);
    next =
        new PriorityQueue<>(
            Comparator.comparing((Run run) -> run.rows().get(), keys)
                .thenComparingInt(Run::number));
  }

  /**
   * Returns the fields of the order in which a task merges its RowSets. They are missing if it reads
   * the RowSets one after another.
   */
  static JsonNode order(JsonNode task) {
    return task.get("plan").path("order").path("fields");
  }

  /** Returns the task that reads one RowSet alone. */
  private static JsonNode alone(JsonNode task, JsonNode rowset) {
    ObjectNode plan = ((ObjectNode) task.get("plan")).objectNode();
    plan.setAll((ObjectNode) task.get("plan"));
    ObjectNode view = plan.objectNode();
    view.setAll((ObjectNode) plan.get("view"));
    view.putArray("rowsets").add(rowset);
    plan.set("view", view);
    ObjectNode found = plan.objectNode();
    found.setAll((ObjectNode) task);
    found.set("plan", plan);
    return found;
  }

  @Override
  public boolean next() throws IOException {
    if (!begun) {
      begun = true;
      for (Run run : runs) {
        add(run);
      }
    } else if (current != null) {
      add(current);
    }
    current = next.poll();
    return current != null;
  }

  private void add(Run run) throws IOException {
    if (run.rows().next()) {
      next.add(run);
    }
  }

  @Override
  public InternalRow get() {
    return current.rows().get();
  }

  @Override
  public void close() throws IOException {
    for (Run run : runs) {
      run.rows().close();
    }
  }
}
