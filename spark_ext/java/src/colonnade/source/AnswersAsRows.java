package colonnade.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Makes what the log answered rows of the plan, so that Spark computes what little remains while
 * it plans. As a scan it would be a job, which takes longer than everything else about it.
 */
final class AnswersAsRows extends Rule<LogicalPlan> {
  private static final AnswersAsRows RULE = new AnswersAsRows();

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

  private static <T> Seq<T> seq(List<T> values) {
    return CollectionConverters.asScala(values).toSeq();
  }

  /** Has the session that plans in this thread use the rule from its next query on. */
  static void use() {
    Option<SparkSession> session = SparkSession.getActiveSession();
    if (session.isDefined()) {
      addTo(session.get().experimental());
    }
  }

  private static void addTo(ExperimentalMethods methods) {
    synchronized (methods) {
      List<Rule<LogicalPlan>> rules =
          new ArrayList<>(CollectionConverters.asJava(methods.extraOptimizations()));
      if (!rules.contains(RULE)) {
        rules.add(RULE);
        methods.extraOptimizations_$eq(seq(rules));
      }
    }
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    LogicalPlan answered = plan.transform(REPLACE);
    return answered == plan ? plan : ConvertToLocalRelation$.MODULE$.apply(answered);
  }
}
