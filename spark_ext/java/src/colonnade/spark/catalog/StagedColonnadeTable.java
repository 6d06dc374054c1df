package colonnade.spark.catalog;

import colonnade.spark.catalog.design.TableDesign;
import colonnade.spark.sink.ColonnadeWriteBuilder;
import colonnade.spark.sink.PlannedWrite;
import colonnade.spark.sink.WriteRequest;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * A table that a statement creates or replaces, with or without rows, in one epoch. {@link
 * #commitStagedChanges} commits this epoch. No reader sees any change before.
 */
final class StagedColonnadeTable implements StagedTable, SupportsWrite {
  private final String path;
  private final TableDesign design;
  private final boolean replace;
  private PlannedWrite planned;
  private WriterCommitMessage[] messages = {};
  private Runnable afterwards = () -> {};

  StagedColonnadeTable(String path, TableDesign design, boolean replace) {
    this.path = path;
    this.design = design;
    this.replace = replace;
  }

  /** Creates a table without rows. */
  static void create(String path, TableDesign design) {
    new StagedColonnadeTable(path, design, false).commitStagedChanges();
  }

  /** Runs an action after the table has been created. */
  StagedColonnadeTable then(Runnable action) {
    afterwards = action;
    return this;
  }

  @Override
  public String name() {
    return path;
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return design.schema();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        TableCapability.BATCH_WRITE, TableCapability.TRUNCATE, TableCapability.OVERWRITE_BY_FILTER);
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    // Spark passes the options of a DataFrame on, and those of a statement only to the design.
    WriteRequest request = ColonnadeWriteBuilder.request(path, info).withOptions(design.options());
    return new ColonnadeWriteBuilder(
        request.creating(design.forPlanner(replace)),
        (written, reports) -> {
          planned = written;
          messages = reports;
        });
  }

  @Override
  public void commitStagedChanges() {
    if (planned == null) {
      design.requireNoOptions();
      WriteRequest empty = WriteRequest.withoutRows(path, design.schema(), Map.of());
      planned = empty.creating(design.forPlanner(replace)).plan();
    }
    planned.commit(messages);
    afterwards.run();
  }

  /** Deletes nothing, as after any failed write, because a commit may have been attempted. */
  @Override
  public void abortStagedChanges() {}
}
