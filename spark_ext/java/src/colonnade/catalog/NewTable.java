package colonnade.catalog;

import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;

/**
 * A table that is not there: {@code df.write.mode("append").save(path)} creates it, with the
 * columns of the rows, by the epoch that adds them.
 */
final class NewTable implements SupportsWrite {
  private final String path;

  NewTable(String path) {
    this.path = path;
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

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteRequest request = ColonnadeWriteBuilder.request(path, info);
    return new ColonnadeWriteBuilder(request, PlannedWrite::commit);
  }
}
