package colonnade.spark.quirks.session;

import colonnade.planner.ColonnadeException;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.CommandResult;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.execution.command.ResetCommand;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.internal.SQLConf;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The settings of a session that turn rules off, so that Spark's own behaviour is left. Each rule has
 * the name of its class, with a small first letter.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SQLConf.get} is the session that is analyzed or planned for.
 */
public final class RuleSwitch {
  private static final String SETTINGS = "spark.colonnade.rule.";

  private RuleSwitch() {}

  /**
   * Whether the session of this thread has a rule, as by default.
   *
   * @param rule the class of the rule
   */
  public static boolean isOn(Class<?> rule) {
    String setting = SETTINGS + nameOf(rule);
    String value = SQLConf.get().getConfString(setting, "true").strip();
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw ColonnadeException.invalid(
              "Setting %s is '%s'; set it to true, or to false for Spark's own behaviour.",
              setting, value);
    };
  }

  /** Refuses a setting of this session that names none of the rules. */
  public static void requireKnown(Set<String> rules) {
    for (String setting : CollectionConverters.asJava(SQLConf.get().getAllConfs()).keySet()) {
      if (setting.startsWith(SETTINGS) && !rules.contains(setting.substring(SETTINGS.length()))) {
        throw ColonnadeException.unchecked(
            "COLONNADE_INVALID_INPUT",
            String.format(
                "Setting %s names no rule; RESET it, or set one of the rules %s.",
                setting, String.join(", ", rules)));
      }
    }
  }

  /**
   * Does so for a plan. {@code SET} and {@code RESET}, which mend settings, go without rules, and so
   * does what they return.
   */
  static boolean isOn(Class<?> rule, LogicalPlan plan) {
    LogicalPlan statement = plan instanceof ReturnAnswer answer ? answer.child() : plan;
    boolean sets =
        statement instanceof SetCommand
            || statement instanceof ResetCommand
            || statement instanceof CommandResult;
    return !sets && isOn(rule);
  }

  private static String nameOf(Class<?> rule) {
    String name = rule.getSimpleName();
    return Character.toLowerCase(name.charAt(0)) + name.substring(1);
  }
}
