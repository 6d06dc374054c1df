package colonnade.spark.catalog.design;

import colonnade.planner.ColonnadeException;
import colonnade.spark.quirks.statement.FrameLayout;
import colonnade.spark.sink.ColonnadeTable;
import colonnade.spark.sink.ColonnadeWriteBuilder;
import colonnade.spark.sink.PlannedWrite;
import colonnade.spark.sink.WriteRequest;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table that does not exist yet, or whose columns will be replaced. A write such as {@code
 * df.write.mode("append").save(path)} creates it with the columns of the rows, in the epoch that
 * adds the rows.
 */
public final class NewTable implements SupportsWrite {
  private final String path;
  private final ColonnadeTable replaced;
  private volatile Transform[] asked = {};

  /** Creates the target of a write. {@code replaced} is the existing table, or null. */
  public NewTable(String path, ColonnadeTable replaced) {
    this.path = path;
    this.replaced = replaced;
  }

  @Override
  public String name() {
    return path;
  }

  @Override
  @SuppressWarnings("deprecation") // the way of older callers to the same columns
  public StructType schema() {
    return new StructType();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        TableCapability.BATCH_WRITE,
        TableCapability.TRUNCATE,
        TableCapability.OVERWRITE_BY_FILTER,
        TableCapability.ACCEPT_ANY_SCHEMA);
  }

  /**
   * Spark calls this only to compare the layout with a partitionBy() that it passes nowhere else.
   * The table takes any layout.
   */
  @Override
  public Transform[] partitioning() {
    String sentence =
        String.format(
            "Spark does not pass the partitionBy() of a write to %s on, because its Java does not"
                + " open java.lang; write .option(\"partitionBy\", \"...\") instead, or start Java"
                + " with --add-opens=java.base/java.lang=ALL-UNNAMED.",
            path);
    asked =
        FrameLayout.asked()
            .orElseThrow(() -> ColonnadeException.invalid(sentence));
    return asked;
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteRequest request =
        ColonnadeWriteBuilder.request(path, info).laidOut(TableDesign.layout(asked));
    return new ColonnadeWriteBuilder(
        replaced == null ? request : request.basedOn(replaced), PlannedWrite::commit);
  }
}
