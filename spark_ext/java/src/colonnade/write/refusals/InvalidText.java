package colonnade.write.refusals;

/**
 * The first value of a column that is not valid UTF-8.
 *
 * @param path the column or the nested field, dotted
 * @param type what that is declared as
 * @param row the staged row that holds the value
 */
public record InvalidText(String path, String type, int row) {

  public InvalidText inRow(int other) {
    return new InvalidText(path, type, other);
  }

  /** The error of a task; {@code input} is the row among those that the task gets, from 0. */
  public RuntimeException refusal(long input) {
    return Refusal.invalid(
        "Column " + ColumnNames.quote(path) + " has an invalid " + type + " in row " + (input + 1)
            + " of the task's input, counted from 1: its bytes are not valid UTF-8. Correct the"
            + " text, or set the table property invalid-text to 'replace'.");
  }
}
