package colonnade.spark.quirks.reads;

import static colonnade.spark.table.ScalaSeq.seq;

import colonnade.spark.scan.AnsweredAggregation;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * An optimizer rule that replaces a scan by its rows if the log alone gave these rows. Spark then
 * computes the rest of the query while it plans it. A scan would start a job, which takes longer.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code ConvertToLocalRelation}, {@code LocalRelation} and {@code
 * DataSourceV2ScanRelation}.
 */
public final class AnswersAsRows extends Rule<LogicalPlan> {
  private static final AbstractPartialFunction<LogicalPlan, LogicalPlan> REPLACE =
      new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(LogicalPlan plan) {
          return plan instanceof DataSourceV2ScanRelation relation
              && relation.scan() instanceof AnsweredAggregation;
        }

        @Override
        public LogicalPlan apply(LogicalPlan plan) {
          DataSourceV2ScanRelation relation = (DataSourceV2ScanRelation) plan;
          return rows((AnsweredAggregation) relation.scan(), relation.output());
        }
      };

  private static LocalRelation rows(AnsweredAggregation answer, Seq<AttributeReference> output) {
    List<Attribute> columns = new ArrayList<>(CollectionConverters.asJava(output));
    return new LocalRelation(seq(columns), seq(List.of(answer.rows())), false, Option.empty());
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan answered = plan.transform(REPLACE);
    return answered == plan ? plan : ConvertToLocalRelation$.MODULE$.apply(answered);
  }
}
