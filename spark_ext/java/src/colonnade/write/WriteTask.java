package colonnade.write;

import colonnade.store.ByteSink;
import colonnade.write.staged.Refusal;
import com.fasterxml.jackson.databind.JsonNode;
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
 * @param set the static columns that an UPDATE sets; null for another statement
 * @param alone whether it sets no other columns, so that no row is written
 */
public record WriteTask(
    String job,
    StructType rows,
    Map<String, String> hadoop,
    List<RowCheck> checks,
    IdentitySource identities,
    List<String> set,
    boolean alone)
    implements Serializable {

  public WriteTask {
    hadoop = Map.copyOf(hadoop);
    checks = List.copyOf(checks);
    set = set == null ? null : List.copyOf(set);
  }

  /**
   * Returns the task of an UPDATE that sets static columns. {@code only} says whether it sets no
   * other column.
   */
  public WriteTask setting(List<String> statics, boolean only) {
    return new WriteTask(job, rows, hadoop, checks, identities, statics, only);
  }

  /** Opens the writer of one task. {@code appends} says whether all its rows are new. */
  RowWriter open(boolean appends) {
    JsonNode task = WriteJob.tree(job);
    WriteJob parsed = WriteJob.parse(task);
    ByteSink sink = ByteSink.of(parsed.url(), hadoop);
    StaticsJob statics = StaticsJob.parse(task);
    if (statics == null) {
      return open(parsed, rows, appends, sink, checks);
    }
    boolean late = identities != null || parsed.replacesText();
    if (late && !checks.isEmpty()) {
      throw Refusal.invalid(
          "Spark cannot write to a table that has static columns and a condition which is checked"
              + " after a row has its values; use colonnade.open(path) in Python.");
    }
    StaticsJob brought = set == null ? statics : statics.setting(set);
    StaticsWriter writer =
        new StaticsWriter(
            brought,
            rows,
            statics.columns(),
            appends || set != null,
            alone,
            sink,
            own -> open(parsed, own, appends, sink, List.of()));
    return RowWriter.checked(writer, checks);
  }

  private RowWriter open(
      WriteJob parsed, StructType given, boolean appends, ByteSink sink, List<RowCheck> met) {
    return IdentityWriter.before(
        parsed,
        given,
        identities,
        appends,
        whole -> RowWriter.of(parsed, whole, sink, met));
  }

  /** Shows the job alone: the settings may hold secrets. */
  @Override
  public String toString() {
    return "WriteTask[" + job + "]";
  }
}
