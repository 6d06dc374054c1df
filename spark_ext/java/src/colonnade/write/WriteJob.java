package colonnade.write;

import colonnade.format.PartitionTransform;
import colonnade.format.TableField;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a task must know of a planned write: the parts of the job's JSON that concern files.
 *
 * <p>{@code prefix} stands before the names of all objects of the table; object ids begin with
 * {@code job}. With {@code replacesText} U+FFFD stands for bytes of texts that are not valid UTF-8; else
 * such texts are refused.
 */
record WriteJob(
    String url,
    String prefix,
    String job,
    List<TableField> columns,
    List<SortField> sortKey,
    List<PartitionField> partitionedBy,
    boolean replacesText,
    WriteOptions options) {
  private static final int INDEXED_COLUMNS = 32;
  private static final long MOST_ROWS = (1L << 32) - 1;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** One column of the sort key, by id. */
  record SortField(int column, boolean descending) {}

  /** One field of the layout: a column, by id; the argument is 0 where the transform has none. */
  record PartitionField(PartitionTransform transform, int column, int argument) {}

  /** Read the JSON of a job as the planner wrote it. */
  static WriteJob parse(String json) {
    JsonNode job;
    try {
      job = MAPPER.readTree(json);
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException("A write job must be JSON.", error);
    }
    JsonNode target = job.get("target");
    List<TableField> columns = new ArrayList<>();
    target.get("table_schema").get("fields").forEach(f -> columns.add(TableField.parse(f)));
    List<SortField> sortKey = new ArrayList<>();
    for (JsonNode field : target.get("sort_key")) {
      sortKey.add(
          new SortField(
              field.get("column").asInt(), field.path("descending").asBoolean()));
    }
    List<PartitionField> partitionedBy = partitionedBy(target.path("partition_fields"));
    return new WriteJob(
        job.get("url").asText(),
        target.get("prefix").asText(),
        job.get("job").asText(),
        columns,
        sortKey,
        partitionedBy,
        target.path("invalid_text").asText().equals("replace"),
        options(
            job.get("settings"),
            columns,
            sortKey,
            partitionedBy,
            target.get("bloom_columns")));
  }

  private static List<PartitionField> partitionedBy(JsonNode fields) {
    List<PartitionField> found = new ArrayList<>();
    for (JsonNode field : fields) {
      found.add(
          new PartitionField(
              PartitionTransform.named(field.get("transform").asText()),
              field.get("column").asInt(),
              field.path("argument").asInt()));
    }
    return found;
  }

  private static WriteOptions options(
      JsonNode settings,
      List<TableField> columns,
      List<SortField> sortKey,
      List<PartitionField> partitionedBy,
      JsonNode bloomColumns) {
    Set<Integer> filtered = new HashSet<>();
    bloomColumns.forEach(column -> filtered.add(column.asInt()));
    Set<Integer> indexed = new HashSet<>();
    columns.stream().limit(INDEXED_COLUMNS).forEach(column -> indexed.add(column.id()));
    sortKey.forEach(field -> indexed.add(field.column()));
    partitionedBy.forEach(field -> indexed.add(field.column()));
    JsonNode limit = settings.path("max_records");
    return WriteOptions.of(
        settings.get("target_bytes").asLong(),
        limit.isNumber() ? Math.min(limit.asLong(), MOST_ROWS) : MOST_ROWS,
        settings.get("sync").asBoolean(),
        indexed,
        filtered);
  }
}
