package colonnade.write;

import colonnade.store.ByteSink;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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

  /** Opens the writer of one task. */
  RowWriter open() {
    JsonNode task = WriteJob.tree(job);
    WriteJob own = WriteJob.parse(task);
    ByteSink sink = ByteSink.of(own.url(), hadoop);
    StaticsJob statics = StaticsJob.parse(task);
    if (statics == null) {
      return finished(own, whole -> RowWriter.plain(own, whole, sink));
    }
    StaticsJob brought = set == null ? statics : statics.setting(set);
    WriteJob both = statics.beside(own);
    StaticsOutput output =
        new StaticsOutput(brought, IdentityWriter.completed(both, rows), sink);
    if (alone) {
      return new StaticsWriter(output, null);
    }
    RowWriter writer =
        finished(
            both,
            whole ->
                new DividingWriter(
                    output,
                    whole,
                    statics.columns(),
                    set != null,
                    stored -> RowWriter.plain(own, stored, sink)));
    return new StaticsWriter(output, writer);
  }

  /**
   * Returns a writer that gives rows their values of identity columns and valid text, and then
   * checks them. {@code writers} creates writers for rows of a schema that are in their stored form.
   */
  private RowWriter finished(
      WriteJob whole, Function<StructType, RowWriter> writers) {
    return IdentityWriter.before(
        whole,
        rows,
        identities,
        given ->
            RowWriter.sound(
                whole, given, () -> RowWriter.checked(writers.apply(given), checks)));
  }

  /** Shows the job alone: the settings may hold secrets. */
  @Override
  public String toString() {
    return "WriteTask[" + job + "]";
  }
}
