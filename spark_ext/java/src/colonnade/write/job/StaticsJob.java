package colonnade.write.job;

import colonnade.format.TableField;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * How a task reports the static values that its rows bring.
 *
 * @param job writes a row for each partition key and its values; its columns are those of the key,
 *     and then the static columns
 * @param keyColumns the number of columns of the key
 * @param distinct whether of equal rows only the last one counts
 * @param nulls whether NULL is a value, and does not leave the value that is there
 */
public record StaticsJob(WriteJob job, int keyColumns, boolean distinct, boolean nulls) {
  /** Reads the part of a task that has static columns; returns null for a task without any. */
  public static StaticsJob parse(JsonNode task) {
    JsonNode statics = task.get("statics");
    return statics == null
        ? null
        : new StaticsJob(
            WriteJob.parse(statics),
            statics.get("key_columns").intValue(),
            statics.get("distinct").booleanValue(),
            statics.get("nulls").booleanValue());
  }

  /** Returns the job of a statement that sets some static columns, also to NULL. */
  public StaticsJob setting(List<String> names) {
    List<TableField> columns = job.columns();
    List<TableField> key = columns.subList(0, keyColumns);
    List<TableField> set =
        columns.stream()
            .filter(each -> key.contains(each) || names.contains(each.name()))
            .toList();
    return new StaticsJob(job.withColumns(set), keyColumns, true, true);
  }

  /** Returns the job of rows that also have the static columns. */
  public WriteJob beside(WriteJob own) {
    List<TableField> all = new ArrayList<>(own.columns());
    all.addAll(columns());
    return own.withColumns(all);
  }

  /** Returns the static columns. */
  public List<TableField> columns() {
    return job.columns().subList(keyColumns, job.columns().size());
  }
}
