package colonnade.catalog;

import colonnade.planner.Planner;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.execution.datasources.v2.python.PythonWriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * A write that is planned: its transaction and base epoch are fixed.
 *
 * @param job the planner's job, for the tasks and for the commit
 * @param database that of the table, or null where the write creates it
 * @param rows the columns that Spark will give
 * @param ordering the sort key, a list of {"column", "descending"}
 */
record PlannedWrite(String job, String database, StructType rows, JsonNode ordering) {

  /** Makes what the tasks report visible in one epoch; may be called again. */
  void commit(WriterCommitMessage[] messages) {
    List<String> entries = new ArrayList<>();
    for (WriterCommitMessage message : messages) {
      if (message != null) {
        byte[] bytes = ((PythonWriterCommitMessage) message).pickledMessage();
        entries.add(new String(bytes, StandardCharsets.UTF_8));
      }
    }
    Map<String, Object> args = new HashMap<>();
    args.put("job", job);
    args.put("database", database);
    args.put("messages", entries);
    Planner.call("commit_write", args);
  }
}
