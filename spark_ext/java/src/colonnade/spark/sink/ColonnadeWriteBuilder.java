package colonnade.spark.sink;

import colonnade.planner.ColonnadeException;
import colonnade.planner.messages.Clauses.Tree;
import colonnade.spark.quirks.changes.MergeJoin;
import colonnade.spark.quirks.writes.SparkCondition;
import colonnade.spark.table.ExpressionTree;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.apache.spark.sql.connector.expressions.filter.AlwaysTrue;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDynamicOverwrite;
import org.apache.spark.sql.connector.write.SupportsOverwriteV2;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.internal.SQLConf;

/** A write to a table: an append until Spark says that it overwrites. */
public final class ColonnadeWriteBuilder
    implements SupportsOverwriteV2, SupportsDynamicOverwrite {
  private static final Set<String> CHOICES =
      Set.of("partitionoverwritemode", "replacewhere", "overwriteschema");

  private final BiConsumer<PlannedWrite, WriterCommitMessage[]> end;
  private final ColonnadeTable table;
  private final boolean byFrame;
  private WriteRequest request;

  /**
   * Creates a write to a table at the state that the statement has read, which excludes a table
   * that has replaced it.
   */
  public static ColonnadeWriteBuilder of(ColonnadeTable table, LogicalWriteInfo info) {
    if (info.options().containsKey("checkpointLocation")) {
      throw ofStream(table.path());
    }
    // Spark runs a MERGE that only inserts as an append.
    return new ColonnadeWriteBuilder(
        request(table.path(), info).basedOn(table),
        (planned, messages) -> planned.append(MergeJoin.running(table), messages),
        table,
        info.options().containsKey("path"));
  }

  /** Refuses what Spark plans for a stream where no rule takes its batches. Always throws. */
  static RuntimeException ofStream(String path) {
    return ColonnadeException.invalid(
        "A stream cannot write to table %s by its name without Colonnade's rule streamedBatches, or"
            + " with a continuous trigger; use start(path).",
        path);
  }

  /** Creates a write of a DataFrame that overwrites a table, as {@code request} describes it. */
  public static ColonnadeWriteBuilder ofFrame(
      ColonnadeTable table,
      WriteRequest request,
      BiConsumer<PlannedWrite, WriterCommitMessage[]> end) {
    return new ColonnadeWriteBuilder(request, end, table, true).truncate();
  }

  /**
   * Deletes all rows of a table at the state that the statement has read. It commits at once and
   * runs no task.
   */
  public static void truncate(ColonnadeTable table) {
    WriteRequest request = WriteRequest.withoutRows(table.path(), table.schema(), Map.of());
    request.basedOn(table).overwriting(null).plan().commit(new WriterCommitMessage[0]);
  }

  /** Creates a builder. {@code end} receives the planned write and the reports of all tasks. */
  public ColonnadeWriteBuilder(
      WriteRequest request, BiConsumer<PlannedWrite, WriterCommitMessage[]> end) {
    this(request, end, null, false);
  }

  private ColonnadeWriteBuilder(
      WriteRequest request,
      BiConsumer<PlannedWrite, WriterCommitMessage[]> end,
      ColonnadeTable table,
      boolean byFrame) {
    this.request = request;
    this.end = end;
    this.table = table;
    this.byFrame = byFrame;
  }

  public static WriteRequest request(String path, LogicalWriteInfo info) {
    return WriteRequest.append(path, info.schema(), info.options().asCaseSensitiveMap());
  }

  @Override
  public ColonnadeWriteBuilder overwrite(Predicate[] predicates) {
    request = request.overwriting(selects(predicates) ? filters(predicates) : null);
    return this;
  }

  /**
   * Overwrites all rows. For a DataFrame that is saved, Spark's setting may choose the partitions of
   * its rows instead; Spark itself applies that setting only in SQL. Spark also calls this for a
   * condition that selects all rows.
   */
  @Override
  public ColonnadeWriteBuilder truncate() {
    boolean chosen =
        request.options().keySet().stream()
            .anyMatch(name -> CHOICES.contains(name.toLowerCase(Locale.ROOT)));
    boolean dynamic = SQLConf.get().partitionOverwriteMode().toString().equals("DYNAMIC");
    return byFrame && dynamic && !chosen && !table.layout().isEmpty()
        ? overwriteDynamicPartitions()
        : overwrite(new Predicate[0]);
  }

  @Override
  public ColonnadeWriteBuilder overwriteDynamicPartitions() {
    request = request.overwritingPartitions();
    return this;
  }

  private static boolean selects(Predicate[] predicates) {
    for (Predicate predicate : predicates) {
      if (!(predicate instanceof AlwaysTrue)) {
        return true;
      }
    }
    return false;
  }

  private static List<Tree> filters(Predicate[] predicates) {
    return ExpressionTree.of(predicates);
  }

  @Override
  public Write build() {
    PlannedWrite planned = request.plan();
    if (planned.exact()) {
      return new ColonnadeWrite(request.kind(), planned, end);
    }
    SparkCondition condition = SparkCondition.running(table.decided()).orElseThrow();
    List<Tree> filters = request.where();
    return new ColonnadeWrite(
        request.kind(),
        planned.with(condition.check(request.rows())),
        (written, messages) -> written.replace(condition, filters, messages));
  }
}
