package colonnade.spark.quirks.session;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * A rule that applies where {@link RuleSwitch} has it on. Two of them are equal if their rules are
 * of one class.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code Rule.ruleName} is what Spark's logs call a rule.
 */
public final class SwitchedRule extends Rule<LogicalPlan> {
  private final Rule<LogicalPlan> rule;

  public SwitchedRule(Rule<LogicalPlan> rule) {
    this.rule = rule;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return RuleSwitch.isOn(rule.getClass(), plan) ? rule.apply(plan) : plan;
  }

  @Override
  public String ruleName() {
    return rule.ruleName();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SwitchedRule that && that.rule.getClass().equals(rule.getClass());
  }

  @Override
  public int hashCode() {
    return rule.getClass().hashCode();
  }
}
