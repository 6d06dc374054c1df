package colonnade.write;

import colonnade.store.ByteSink;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.types.StructType;

/**
 * What each task of a write receives from the driver.
 *
 * @param job the job that {@link WriteJob} parses
 * @param rows the schema of the rows, whose columns are matched by name, in any order and case. If
 *     the table has a sort key, the rows of a task must arrive in its order
 * @param hadoop the settings for tables that are not on a local disk
 * @param checks conditions that every row must meet
 * @param identities gives values of identity columns; null for a table that has none
 */
public record WriteTask(
    String job,
    StructType rows,
    Map<String, String> hadoop,
    List<RowCheck> checks,
    IdentitySource identities)
    implements Serializable {

  public WriteTask {
    hadoop = Map.copyOf(hadoop);
    checks = List.copyOf(checks);
  }

  /** Opens the writer of one task. {@code appends} says whether all its rows are new. */
  RowWriter open(boolean appends) {
    WriteJob parsed = WriteJob.parse(job);
    ByteSink sink = ByteSink.of(parsed.url(), hadoop);
    return IdentityWriter.before(
        parsed, rows, identities, appends, given -> RowWriter.of(parsed, given, sink, checks));
  }

  /** Shows the job alone: the settings may hold secrets. */
  @Override
  public String toString() {
    return "WriteTask[" + job + "]";
  }
}
