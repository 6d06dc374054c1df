package colonnade.write;

import colonnade.store.ByteSink;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.types.StructType;

/**
 * Creates the writers of one write job on the executors.
 *
 * <p>{@code jobJson} is the job that {@link WriteJob} parses. {@code rowSchema} is the schema of
 * the rows, whose columns are matched by name, in any order and case. If the table has a sort key,
 * the rows of a task must arrive in its order. {@code hadoopConf} has the settings for tables that
 * are not on a local disk. {@code checks} are conditions that every row must meet.
 * {@code identities} gives values of identity columns; null for a table that has none.
 */
public final class ColonnadeWriterFactory implements DataWriterFactory {
  private static final long serialVersionUID = 1L;

  private final String jobJson;
  private final StructType rowSchema;
  private final HashMap<String, String> hadoopConf;
  private final ArrayList<RowCheck> checks;
  private final IdentitySource identities;

  public ColonnadeWriterFactory(
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
  public DataWriter<InternalRow> createWriter(int partitionId, long taskId) {
    WriteJob job = WriteJob.parse(jobJson);
    ByteSink sink = ByteSink.of(job.url(), hadoopConf);
    return new TaskWriter(
        IdentityWriter.before(
            job, rowSchema, identities, true, rows -> RowWriter.of(job, rows, sink, checks)));
  }
}
