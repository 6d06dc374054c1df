package colonnade.spark.quirks.changes;

import colonnade.spark.quirks.statement.RunningStatement;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.WriteDelta;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An UPDATE or MERGE that replaces columns where that writes less. Otherwise its child runs, which is Spark's
 * own plan of the statement and moves whole rows.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code V2CommandExec}, and the condition of an error of several stages.
 */
public final class ColumnUpdateExec extends V2CommandExec {
  private static final String MANY = "STAGE_MATERIALIZATION_MULTIPLE_FAILURES";

  private final SparkPlan child;
  private final RowLevelOperation operation;
  private final SetColumns.Writer write;

  /** Creates the node. Spark copies plans by public constructors. */
  public ColumnUpdateExec(
      SparkPlan child, RowLevelOperation operation, SetColumns.Writer write) {
    this.child = child;
    this.operation = operation;
    this.write = write;
  }

  @Override
  public Seq<InternalRow> run() {
    try {
      if (!replaces()) {
        child.executeCollect();
      }
    } catch (Exception error) {
      throw ColumnUpdateExec.<RuntimeException>raised(single(error));
    }
    return nothing();
  }

  /**
   * Returns the failure of a stage that a plan reads in two places, as {@link ReducedMerges} has it
   * read the source. Spark reports it as several failures, in an error that hides its condition.
   */
  private static Throwable single(Exception error) {
    Throwable first = error.getCause();
    boolean isRepeated =
        error instanceof SparkException several
            && MANY.equals(several.getCondition())
            && first != null
            && Stream.of(error.getSuppressed())
                .anyMatch(each -> Objects.equals(each.getMessage(), first.getMessage()));
    return isRepeated ? first : error;
  }

  @SuppressWarnings("unchecked") // Spark throws checked exceptions without a declaration
  private static <E extends Throwable> E raised(Throwable error) throws E {
    throw (E) error;
  }

  private boolean replaces() {
    Optional<SetColumns> found =
        RunningStatement.findToRun(WriteDelta.class)
            .filter(statement -> statement.operation() == operation)
            .flatMap(SetColumns::of);
    if (found.isEmpty()) {
      return false;
    }
    try (SetColumns columns = found.get()) {
      return write.replace(columns);
    }
  }

  @Override
  public String nodeName() {
    return "ReplaceColumns";
  }

  /** Returns the text that query plans show after the name. */
  @Override
  public String argString(int maxFields) {
    return "where that writes fewer bytes than to move rows";
  }

  @Override
  public Seq<Attribute> output() {
    return nothing();
  }

  @Override
  public Seq<SparkPlan> children() {
    return CollectionConverters.asScala(List.of(child)).toSeq();
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new ColumnUpdateExec(children.head(), operation, write);
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return List.of(child, operation, write).get(place);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ColumnUpdateExec;
  }

  private static <T> Seq<T> nothing() {
    return CollectionConverters.asScala(List.<T>of()).toSeq();
  }
}
