package colonnade.write;

import colonnade.format.rowset.JsonObject;
import colonnade.store.ByteSink;
import colonnade.store.hadoop.Stores;
import colonnade.write.job.StaticsJob;
import colonnade.write.job.WriteJob;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
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
    JsonNode task = JsonObject.parse(job);
    WriteJob own = WriteJob.parse(task);
    ByteSink sink = Stores.sink(own.url(), hadoop);
    Function<StructType, RowWriter> stored = given -> RowWriter.plain(own, given, sink);
    StaticsJob statics = StaticsJob.parse(task);
    if (statics == null) {
      return writer(own, divided -> divided, stored);
    }
    StaticsJob brought = set == null ? statics : statics.setting(set);
    WriteJob both = statics.beside(own);
    StaticsOutput output =
        new StaticsOutput(brought, IdentityWriter.completed(both, rows), sink);
    if (alone) {
      return new StaticsWriter(output, null);
    }
    RowWriter writer =
        writer(
            both,
            after ->
                given ->
                    new DividingWriter(output, given, statics.columns(), set != null, after),
            stored);
    return new StaticsWriter(output, writer);
  }

  /**
   * Returns a writer of rows that take the steps of a task.
   *
   * @param whole the job of rows that are not divided yet
   * @param divide puts the split before writers of divided rows
   * @param stored creates writers for rows of a schema that are in their stored form
   */
  private RowWriter writer(
      WriteJob whole,
      UnaryOperator<Function<StructType, RowWriter>> divide,
      Function<StructType, RowWriter> stored) {
    Function<StructType, RowWriter> first = stored;
    for (int at = RowStep.TASK.size() - 1; at >= 0; at--) {
      Function<StructType, RowWriter> after = first;
      first =
          switch (RowStep.TASK.get(at)) {
            case IDENTIFY -> given -> IdentityWriter.before(whole, given, identities, after);
            case CONFORM -> given -> RowWriter.sound(whole, given, () -> after.apply(given));
            case CHECK -> given -> RowWriter.checked(after.apply(given), checks);
            case DIVIDE -> divide.apply(after);
            case EXPIRE, GENERATE ->
                throw new IllegalStateException("Spark's plan does this step.");
          };
    }
    return first.apply(rows);
  }

  /** Shows the job alone: the settings may hold secrets. */
  @Override
  public String toString() {
    return "WriteTask[" + job + "]";
  }
}
