package colonnade.write;

import java.util.List;

/**
 * The steps of rows before they are stored, as docs/spec/operations.md#added-rows lists them. Spark's
 * plan makes some of them, and tasks the others.
 */
enum RowStep {
  DIVIDE,
  EXPIRE,
  CONFORM,
  IDENTIFY,
  GENERATE,
  CHECK;

  /**
   * What is done when a task gets its rows. Spark casts them to the types of the columns and checks
   * constraints; {@code quirks/writes/FillGenerated} does the steps between.
   */
  static final List<RowStep> PLAN = List.of(CONFORM, EXPIRE, GENERATE, CHECK);

  /**
   * What a task does, in this order. Only the log gives values of identity columns, so constraints
   * that read them are checked here. The rest of {@code CONFORM} is valid text. A partition key may
   * have an identity column, so rows are divided last.
   */
  static final List<RowStep> TASK = List.of(IDENTIFY, CONFORM, CHECK, DIVIDE);
}
