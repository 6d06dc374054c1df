package colonnade.write;

import colonnade.store.ByteSink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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
  private final ArrayList<RowCheck> checks;
  private final IdentitySource identities;

  public RowChangeWriterFactory(
      String jobJson,
      StructType rowSchema,
      Map<String, String> hadoopConf,
      List<RowCheck> checks,
      IdentitySource identities) {
    this.jobJson = jobJson;
    this.identities = identities;
    this.hadoopConf = new HashMap<>(hadoopConf);
    this.rowSchema = rowSchema;
    this.checks = new ArrayList<>(checks);
  }

  @Override
  public DeltaWriter<InternalRow> createWriter(int partitionId, long taskId) {
    WriteJob job = WriteJob.parse(jobJson);
    ByteSink sink = ByteSink.of(job.url(), hadoopConf);
    return new RowChangeWriter(
        IdentityWriter.before(
            job, rowSchema, identities, false, rows -> RowWriter.of(job, rows, sink, checks)));
  }
}
