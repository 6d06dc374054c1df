package colonnade.spark.sink;

import java.util.Map;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The writing side of a DELETE, UPDATE or MERGE. */
public final class RowChangeBuilder implements DeltaWriteBuilder {
  private final WriteRequest request;
  private final RowChange change;

  /**
   * Creates a builder. {@code options} are those of the statement; {@code written} has the columns
   * of the rows that it writes.
   */
  public static RowChangeBuilder of(
      RowChange change, CaseInsensitiveStringMap options, StructType written) {
    WriteRequest request = request(change.table(), written, options.asCaseSensitiveMap());
    return new RowChangeBuilder(request, change);
  }

  private static WriteRequest request(
      ColonnadeTable table, StructType written, Map<String, String> options) {
    // A statement that only deletes writes no columns.
    WriteRequest request =
        written.isEmpty()
            ? WriteRequest.withoutRows(table.path(), table.schema(), options)
            : WriteRequest.append(table.path(), written, options);
    return request.basedOn(table);
  }

  private RowChangeBuilder(WriteRequest request, RowChange change) {
    this.request = request;
    this.change = change;
  }

  @Override
  public DeltaWrite build() {
    return new RowChangeWrite(request.plan(), change);
  }
}
