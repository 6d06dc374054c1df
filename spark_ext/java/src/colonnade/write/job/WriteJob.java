package colonnade.write.job;

import colonnade.format.PartitionTransform;
import colonnade.format.TableField;
import colonnade.format.rowset.JsonRecords;
import colonnade.write.refusals.ColumnNames;
import colonnade.write.staged.EncodingChoices;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.types.StructType;

/**
 * The part of a planned write that a task needs, as {@code spark_ext/write_task.py} writes it.
 *
 * @param url the URL of the store
 * @param prefix the prefix of the names of all objects of the table
 * @param jobId the job id: the names of all objects of this write begin with it, below the prefix
 * @param replacesText whether U+FFFD replaces bytes of strings that are not valid UTF-8; otherwise
 *     such strings are refused
 * @param usedColumns the names of the columns, in any case, that Spark's plan has read before a task
 *     gets the rows, because generated columns or constraints read them
 * @param columns the columns of the table
 * @param identities those among them whose values the table gives
 */
public record WriteJob(
    String url,
    String prefix,
    String jobId,
    boolean replacesText,
    Set<String> usedColumns,
    List<TableField> columns,
    List<IdentityColumn> identities,
    List<SortField> sortKey,
    List<PartitionField> partitionedBy,
    WriteOptions options,
    EncodingChoices encoding,
    IdentityDraws draws) {
  /** One column of the sort key. {@code column} is its id. */
  public record SortField(int column, boolean descending) {}

  /**
   * One field of the layout. {@code column} is the id of its column. The argument is 0 if the
   * transform has none.
   */
  public record PartitionField(PartitionTransform transform, int column, int argument) {}

  /** Reads the JSON that the planner gives to each task. */
  public static WriteJob parse(JsonNode task) {
    Set<String> used = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    task.get("used_columns").forEach(name -> used.add(name.textValue()));
    List<TableField> columns = new ArrayList<>();
    task.get("columns").forEach(field -> columns.add(TableField.parse(field)));
    List<SortField> sortKey = new ArrayList<>();
    for (JsonNode field : task.get("sort_key")) {
      sortKey.add(
          new SortField(
              field.get("column").intValue(), field.path("descending").booleanValue()));
    }
    List<PartitionField> partitionedBy = new ArrayList<>();
    for (JsonNode field : task.get("partition_fields")) {
      partitionedBy.add(
          new PartitionField(
              PartitionTransform.named(field.get("transform").textValue()),
              field.get("column").intValue(),
              field.path("argument").intValue()));
    }
    return new WriteJob(
        task.get("url").textValue(),
        task.get("prefix").textValue(),
        task.get("job_id").textValue(),
        task.get("invalid_text").textValue().equals("replace"),
        used,
        columns,
        IdentityColumn.of(task.get("columns")),
        sortKey,
        partitionedBy,
        JsonRecords.read(task.get("options"), WriteOptions.class),
        JsonRecords.read(task.get("encoding"), EncodingChoices.class),
        JsonRecords.read(task.get("identity_draws"), IdentityDraws.class));
  }

  /**
   * Returns the place of each column of the table in rows of a schema, by its name.
   *
   * @throws org.apache.spark.sql.AnalysisException naming columns that are missing, unknown or there
   *     twice
   */
  public int[] placesIn(StructType rows) {
    List<String> names = columns.stream().map(TableField::name).toList();
    return ColumnNames.match(List.of(rows.fieldNames()), names, "The data");
  }

  /** Returns the place of the column with an id in rows of a schema. */
  public int placeIn(StructType rows, int column) {
    return placesIn(rows)[columns.stream().map(TableField::id).toList().indexOf(column)];
  }

  /** Returns the job for rows of other columns. */
  WriteJob withColumns(List<TableField> others) {
    return new WriteJob(
        url, prefix, jobId, replacesText, usedColumns, others, identities, sortKey, partitionedBy,
        options, encoding, draws);
  }
}
