package colonnade.spark.quirks.rules;

import colonnade.spark.quirks.changes.ColumnUpdates;
import colonnade.spark.quirks.changes.HistoryTexts;
import colonnade.spark.quirks.changes.KeyedMerges;
import colonnade.spark.quirks.changes.OfferedColumns;
import colonnade.spark.quirks.changes.PaddedDeletes;
import colonnade.spark.quirks.changes.ReducedMerges;
import colonnade.spark.quirks.changes.RowChanges;
import colonnade.spark.quirks.reads.AnswersAsRows;
import colonnade.spark.quirks.reads.StatedReads;
import colonnade.spark.quirks.session.OwnCatalog;
import colonnade.spark.quirks.session.RuleSwitch;
import colonnade.spark.quirks.session.StreamSession;
import colonnade.spark.quirks.session.SwitchedRule;
import colonnade.spark.quirks.tables.AlteredFields;
import colonnade.spark.quirks.tables.AlteredTexts;
import colonnade.spark.quirks.tables.ChecksByCatalog;
import colonnade.spark.quirks.tables.LoadCatalogFirst;
import colonnade.spark.quirks.tables.ShownGenerated;
import colonnade.spark.quirks.writes.AppendColumns;
import colonnade.spark.quirks.writes.EvolvingInserts;
import colonnade.spark.quirks.writes.EvolvingWrites;
import colonnade.spark.quirks.writes.FillGenerated;
import colonnade.spark.quirks.writes.StreamedBatchPlans;
import colonnade.spark.quirks.writes.StreamedBatches;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.SparkStrategy;

/**
 * Every rule that the jar gives to sessions of Spark, and what would be without it. Rules of one kind
 * are applied in this order. {@link RuleSwitch} turns each of them off.
 *
 * <p>Seen on Spark 4.1 and 4.3: {@code SparkSessionExtensions}.
 */
public final class SparkRules {
  private static final String BOTH = "4.1, 4.3";

  /** The rules, as docs/spark-sessions.md lists them. */
  public static final List<SparkRule> ALL =
      List.of(
          rule("outermostParser", Mends.REFUSAL, BOTH,
              "`OPTIMIZE`, `VACUUM`, `RESTORE`, `DESCRIBE HISTORY` and `DESCRIBE DETAIL` are no"
                  + " statements",
              elsewhere()),
          rule("ownCatalog", Mends.REFUSAL, BOTH,
              "a session that was started with the jar alone has no catalog `colonnade`",
              hint(session -> new OwnCatalog())),
          rule("streamSession", Mends.RESULT, BOTH,
              "a stream writes into the transaction that its session has open",
              hint(StreamSession::new)),
          rule("evolvingWrites", Mends.REFUSAL, BOTH,
              "`mergeSchema` and `ignoreUnknownColumns` do nothing in writes of DataFrames",
              hint(session -> new EvolvingWrites())),
          rule("evolvingInserts", Mends.REFUSAL, BOTH,
              "the setting `spark.colonnade.mergeSchema` does nothing in an `INSERT`",
              hint(session -> new EvolvingInserts())),
          rule("appendColumns", Mends.REFUSAL, BOTH,
              "rows with some of the columns do not merge by the primary key in an append",
              hint(session -> new AppendColumns())),
          rule("historyTexts", Mends.RESULT, BOTH,
              "the history has no conditions and clauses of `DELETE`, `UPDATE` and `MERGE`",
              hint(session -> new HistoryTexts())),
          rule("rowChanges", Mends.REFUSAL, BOTH,
              "`UPDATE SET *` and `INSERT *` need the generated and identity columns, and 4.3"
                  + " refuses a source with random values",
              hint(session -> new RowChanges())),
          rule("statedReads", Mends.RESULT, BOTH,
              "a table is no stream by its name, and the option `schemaEpoch` does nothing for it",
              hint(session -> new StatedReads())),
          rule("alteredTexts", Mends.RESULT, BOTH,
              "a `CHAR` or `VARCHAR` inside a column stays one after `TYPE STRING`",
              hint(session -> new AlteredTexts())),
          rule("keyedMerges", Mends.COST, BOTH,
              "a `MERGE` on the primary key joins, and conflicts with other writers of its rows",
              resolution(new KeyedMerges())),
          rule("loadCatalogFirst", Mends.RESULT, "4.1",
              "`CREATE TABLE … LIKE`, as the first statement, makes a table of another format",
              check(new LoadCatalogFirst())),
          rule("alteredFields", Mends.REFUSAL, BOTH,
              "`SET NOT NULL`, and a longer `CHAR` or `VARCHAR` inside a column, are refused",
              check(new AlteredFields())),
          rule("checksByCatalog", Mends.REFUSAL, BOTH,
              "`ADD CONSTRAINT` is refused for a condition that always holds",
              check(new ChecksByCatalog())),
          rule("offeredColumns", Mends.REFUSAL, BOTH,
              "the values of an `UPDATE` of all rows cannot read columns such as `_epoch`",
              check(new OfferedColumns())),
          rule("streamedBatches", Mends.REFUSAL, BOTH,
              "`writeStream.toTable` is refused; `start(path)` works",
              check(new StreamedBatches())),
          rule("fillGenerated", Mends.REFUSAL, BOTH,
              "writes to tables with generated columns, and those with `ttl`, are refused",
              check(new FillGenerated())),
          rule("answersAsRows", Mends.COST, BOTH,
              "a query that the log alone answers starts a job of Spark",
              optimization(new AnswersAsRows())),
          rule("reducedMerges", Mends.COST, BOTH,
              "a `MERGE` of a small source shuffles the whole table",
              optimization(new ReducedMerges())),
          rule("paddedDeletes", Mends.REFUSAL, BOTH,
              "`DELETE FROM` a table with a `CHAR` column needs a condition",
              strategy(new PaddedDeletes())),
          rule("streamedBatchPlans", Mends.REFUSAL, BOTH,
              "Spark finds no plan for a batch of `writeStream.toTable`",
              strategy(new StreamedBatchPlans())),
          rule("columnUpdates", Mends.COST, BOTH,
              "`UPDATE` and `MERGE` write whole rows, and not the columns that they set",
              strategy(new ColumnUpdates())),
          rule("shownGenerated", Mends.RESULT, BOTH,
              "`SHOW CREATE TABLE` leaves out what generated and identity columns state",
              strategy(new ShownGenerated())),
          rule("sessionCommands", Mends.RESULT, BOTH,
              "in `spark_catalog`, `SHOW TABLE EXTENDED` and `CREATE TABLE … LIKE` take a table for"
                  + " one of Spark's own",
              elsewhere()));

  private static final Set<String> NAMES =
      ALL.stream().map(SparkRule::name).collect(Collectors.toCollection(TreeSet::new));

  /** What a rule is good for. */
  public enum Mends {
    /** Without it, Spark gives or stores another result. */
    RESULT,
    /** Without it, Spark refuses a statement. */
    REFUSAL,
    /** Without it, a statement takes longer, or conflicts with more of the others. */
    COST
  }

  /**
   * One rule.
   *
   * @param name the name of its class, with a small first letter
   * @param versions the versions of Spark that need it
   * @param without what there is without it
   * @param road how it comes into a session
   */
  public record SparkRule(String name, Mends mends, String versions, String without, Road road) {}

  /**
   * How a rule comes into a session.
   *
   * @param extend by an extension of the session
   * @param use into the session of this thread, which may have it
   */
  private record Road(Consumer<SparkSessionExtensions> extend, Runnable use) {}

  private SparkRules() {}

  /** Gives a new session, as it is extended, the rules of its analyzer. */
  public static void extend(SparkSessionExtensions extensions) {
    ALL.forEach(each -> each.road.extend.accept(extensions));
  }

  /**
   * Gives the session of this thread the rules of its optimizer and its planner. Refuses a switch of
   * a rule that does not exist.
   */
  public static void use() {
    RuleSwitch.requireKnown(NAMES);
    ALL.forEach(each -> each.road.use.run());
  }

  private static SparkRule rule(
      String name, Mends mends, String versions, String without, Road road) {
    return new SparkRule(name, mends, versions, without, road);
  }

  /** Applied before Spark looks for tables. */
  private static Road hint(Function<SparkSession, Rule<LogicalPlan>> rule) {
    return new Road(
        extensions ->
            extensions.injectHintResolutionRule(session -> new SwitchedRule(rule.apply(session))),
        () -> {});
  }

  /** Applied last in each round of the analysis. */
  private static Road resolution(Rule<LogicalPlan> rule) {
    return new Road(
        extensions -> extensions.injectResolutionRule(session -> new SwitchedRule(rule)),
        () -> {});
  }

  /** Applied once after all rounds of the analysis, before Spark checks what it has resolved. */
  private static Road check(Rule<LogicalPlan> rule) {
    return new Road(
        extensions -> extensions.injectPostHocResolutionRule(session -> new SwitchedRule(rule)),
        () -> {});
  }

  private static Road optimization(Rule<LogicalPlan> rule) {
    return new Road(extensions -> {}, () -> SessionRules.addRule(rule));
  }

  private static Road strategy(SparkStrategy strategy) {
    return new Road(extensions -> {}, () -> SessionRules.addStrategy(strategy));
  }

  /** Given to sessions by another class, which asks {@link RuleSwitch}. */
  private static Road elsewhere() {
    return new Road(extensions -> {}, () -> {});
  }
}
