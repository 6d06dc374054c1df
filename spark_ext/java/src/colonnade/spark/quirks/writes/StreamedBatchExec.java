package colonnade.spark.quirks.writes;

import static colonnade.spark.table.ScalaSeq.seq;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.V2CommandExec;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * Writes one batch of a stream. Its child computes the rows, as Spark has planned it for a stream
 * with the state of its operators.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code V2CommandExec}.
 */
public final class StreamedBatchExec extends V2CommandExec {
  private final SparkPlan child;
  private final StreamSink sink;
  private final long number;

  /** Creates the node. Spark copies plans by public constructors. */
  public StreamedBatchExec(SparkPlan child, StreamSink sink, long number) {
    this.child = child;
    this.sink = sink;
    this.number = number;
  }

  @Override
  public Seq<InternalRow> run() {
    sink.write(number, session(), child.execute(), child.schema());
    return seq();
  }

  @Override
  public String nodeName() {
    return "WriteBatchOfStream";
  }

  @Override
  public Seq<Attribute> output() {
    return seq();
  }

  @Override
  public Seq<SparkPlan> children() {
    return seq(List.of(child));
  }

  @Override
  public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return new StreamedBatchExec(children.head(), sink, number);
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return List.of(child, sink, number).get(place);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof StreamedBatchExec;
  }
}
