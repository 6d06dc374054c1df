package colonnade.write;

import colonnade.store.ByteSink;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DeltaWriter;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.types.StructType;

/** Creates the writers of tasks that also delete rows. See {@link ColonnadeWriterFactory}. */
public final class RowChangeWriterFactory implements DeltaWriterFactory {
  private static final long serialVersionUID = 1L;

  private final String jobJson;
  private final StructType rowSchema;
  private final HashMap<String, String> hadoopConf;
  private final IdentitySource identities;

  public RowChangeWriterFactory(
      String jobJson,
      StructType rowSchema,
      Map<String, String> hadoopConf,
      IdentitySource identities) {
    this.jobJson = jobJson;
    this.identities = identities;
    this.hadoopConf = new HashMap<>(hadoopConf);
    this.rowSchema = rowSchema;
  }

  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    WriteJob job = WriteJob.parse(jobJson);
    ByteSink sink = ByteSink.of(job.url(), hadoopConf);
    return new RowChangeWriter(
        IdentityWriter.before(
            job, rowSchema, identities, false, rows -> RowWriter.of(job, rows, sink)));
  }
}
