package colonnade.spark.quirks.session;

import static colonnade.spark.table.ScalaSeq.seq;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;

/**
 * A strategy that plans where {@link RuleSwitch} has it on. Two of them are equal if their strategies
 * are.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkStrategy}; Spark goes on where one plans nothing.
 */
public final class SwitchedStrategy extends SparkStrategy {
  private final SparkStrategy strategy;

  public SwitchedStrategy(SparkStrategy strategy) {
    this.strategy = strategy;
  }

  @Override
  public Seq<SparkPlan> apply(LogicalPlan plan) {
    return RuleSwitch.isOn(strategy.getClass(), plan)
        ? strategy.apply(plan)
        : seq();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SwitchedStrategy that && that.strategy.equals(strategy);
  }

  @Override
  public int hashCode() {
    return strategy.hashCode();
  }
}
