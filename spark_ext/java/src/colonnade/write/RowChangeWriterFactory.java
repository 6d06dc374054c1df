package colonnade.write;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.types.StructType;

/** Creates the writers of tasks that also delete rows. See {@link ColonnadeWriterFactory}. */
public final class RowChangeWriterFactory implements DeltaWriterFactory {
  private static final long serialVersionUID = 1L;

  private final String jobJson;
  private final StructType rowSchema;

  public RowChangeWriterFactory(String jobJson, StructType rowSchema) {
    this.jobJson = jobJson;
    this.rowSchema = rowSchema;
  }

  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    return new RowChangeWriter(RowWriter.of(WriteJob.parse(jobJson), rowSchema));
  }
}
