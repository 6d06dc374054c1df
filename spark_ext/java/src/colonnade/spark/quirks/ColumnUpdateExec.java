package colonnade.spark.quirks;

import java.util.List;
import java.util.Optional;
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
 * <p>Seen on Spark 4.1 and 4.3: {@code V2CommandExec}.
 */
public final class ColumnUpdateExec extends V2CommandExec {
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
    if (!replaces()) {
      child.executeCollect();
    }
    return nothing();
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
