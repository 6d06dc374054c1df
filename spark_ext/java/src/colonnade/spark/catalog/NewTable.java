package colonnade.spark.catalog;

import colonnade.planner.ColonnadeException;
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
 * A table that is not there, or whose columns will not be: {@code
 * df.write.mode("append").save(path)} makes it, with the columns of the rows, by the epoch that
 * adds them.
 */
final class NewTable implements SupportsWrite {
  private final String path;
  private final ColonnadeTable replaced;

  /** {@code replaced} is the table that is there, or null. */
  NewTable(String path, ColonnadeTable replaced) {
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

  /** Asked for only to be compared with a partitionBy() that is passed on nowhere else. */
  @Override
  public Transform[] partitioning() {
    if (replaced != null) {
      return replaced.partitioning();
    }
    String sentence =
        String.format(
            "There is no table %s yet, and Spark does not say what partitionBy() names when it"
                + " appends or overwrites: write .option(\"partitionBy\", \"...\") instead, or"
                + " leave out mode().",
            path);
    throw ColonnadeException.unchecked("COLONNADE_INVALID_INPUT", sentence);
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteRequest request = ColonnadeWriteBuilder.request(path, info);
    return new ColonnadeWriteBuilder(
        replaced == null ? request : request.basedOn(replaced), PlannedWrite::commit);
  }
}
